package dev.millrace.spring;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;

/**
 * Gives an application of Spring Boot Millrace's producers: each bean whose class is {@link DefaultKafkaProducerFactory},
 * whether Spring Boot or the application makes it, becomes a {@link MillraceProducerFactory} with the same settings. Other
 * producer factories, subclasses among them, stay as they are; a line of the log names them.
 *
 * <p>{@code millrace.enabled=false} turns it off.
 */
@AutoConfiguration
@ConditionalOnClass(DefaultKafkaProducerFactory.class)
@Conditional(MillraceAutoConfiguration.OnEnabled.class)
public class MillraceAutoConfiguration {
    private static final String ENABLED = "millrace.enabled";

    @Bean
    static ProducerFactoryReplacer millraceProducerFactoryReplacer() {
        return new ProducerFactoryReplacer();
    }

    /** Fails for a value that is neither true nor false; Spring's condition for properties would take it for one. */
    static final class OnEnabled implements Condition {
        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            return Binder.get(context.getEnvironment())
                    .bind(ENABLED, Boolean.class)
                    .orElse(true);
        }
    }
}
