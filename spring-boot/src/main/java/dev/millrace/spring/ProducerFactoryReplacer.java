package dev.millrace.spring;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.DestructionAwareBeanPostProcessor;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextAware;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.ProducerFactory;

/**
 * Replaces beans that are Spring Kafka's own producer factory, as soon as they have all their properties and before
 * anybody gets them. Spring Boot's customizers have run by then; other post processors and init methods get the new
 * factory.
 *
 * <p><b>Threads:</b> any number.
 */
final class ProducerFactoryReplacer implements DestructionAwareBeanPostProcessor, ApplicationContextAware {
    private static final Logger logger = LoggerFactory.getLogger(ProducerFactoryReplacer.class);

    /**
     * By the factory that each replaces. Spring destroys only that one, and stops the new one only if it was there when
     * the application started. Weak, because Spring never destroys prototypes.
     */
    private final Map<Object, MillraceProducerFactory<?, ?>> replacements =
            Collections.synchronizedMap(new WeakHashMap<>());

    private ApplicationContext applicationContext;

    @Override
    public void setApplicationContext(ApplicationContext applicationContext) {
        this.applicationContext = applicationContext;
    }

    @Override
    public Object postProcessBeforeInitialization(Object bean, String beanName) {
        if (bean.getClass() == DefaultKafkaProducerFactory.class) {
            return replacement((DefaultKafkaProducerFactory<?, ?>) bean);
        }
        if (bean instanceof ProducerFactory && !(bean instanceof MillraceProducerFactory)) {
            logger.info(
                    "Millrace leaves the producer factory {} as it is: its class is {}, not {}",
                    beanName,
                    bean.getClass().getName(),
                    DefaultKafkaProducerFactory.class.getName());
        }
        return bean;
    }

    private MillraceProducerFactory<?, ?> replacement(DefaultKafkaProducerFactory<?, ?> bean) {
        MillraceProducerFactory<?, ?> replacement = MillraceProducerFactory.from(bean);
        replacement.setApplicationContext(applicationContext);
        replacements.put(bean, replacement);
        return replacement;
    }

    @Override
    public boolean requiresDestruction(Object bean) {
        return replacements.containsKey(bean);
    }

    @Override
    public void postProcessBeforeDestruction(Object bean, String beanName) {
        MillraceProducerFactory<?, ?> replacement = replacements.remove(bean);
        if (replacement != null) {
            replacement.destroy();
        }
    }
}
