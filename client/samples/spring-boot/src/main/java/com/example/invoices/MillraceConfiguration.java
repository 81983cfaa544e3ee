package com.example.invoices;

import dev.millrace.client.MillraceProducer;
import java.util.Map;
import org.apache.kafka.clients.producer.Producer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.kafka.autoconfigure.DefaultKafkaProducerFactoryCustomizer;
import org.springframework.boot.kafka.autoconfigure.KafkaProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.ProducerFactory;

/** All that is needed for Millrace: the producer factory that Spring Boot makes, with another producer. */
@Configuration
class MillraceConfiguration {
    @Bean
    ProducerFactory<?, ?> producerFactory(
            KafkaProperties kafka, ObjectProvider<DefaultKafkaProducerFactoryCustomizer> customizers) {
        var factory = new DefaultKafkaProducerFactory<Object, Object>(kafka.buildProducerProperties()) {
            @Override
            protected Producer<Object, Object> createRawProducer(Map<String, Object> configs) {
                return new MillraceProducer<>(configs, getKeySerializer(), getValueSerializer());
            }
        };
        factory.setTransactionIdPrefix(kafka.getProducer().getTransactionIdPrefix());
        customizers.orderedStream().forEach(customizer -> customizer.customize(factory)); // with the actuator: metrics
        return factory;
    }
}
