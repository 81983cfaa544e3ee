package dev.millrace.client.it.frameworks;

import dev.millrace.client.MillraceProducer;
import dev.millrace.client.support.ProducerKind;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.Producer;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.core.ProducerPostProcessor;

/** All that Spring Kafka needs to use our producer; Spring adds its features to it as to the stock producer. */
final class MillraceProducerFactory<K, V> extends DefaultKafkaProducerFactory<K, V> {
    private final ProducerKind kind;

    MillraceProducerFactory(ProducerKind kind, Map<String, Object> configs) {
        super(configs);
        this.kind = kind;
    }

    @Override
    protected Producer<K, V> createRawProducer(Map<String, Object> configs) {
        if (kind == ProducerKind.STOCK) {
            return super.createRawProducer(configs);
        }
        Producer<K, V> producer = new MillraceProducer<>(configs, getKeySerializer(), getValueSerializer());
        for (ProducerPostProcessor<K, V> processor : getPostProcessors()) {
            producer = processor.apply(producer);
        }
        return producer;
    }

    /** For a template with its own configuration; Spring's method would return a factory of stock producers. */
    @Override
    public ProducerFactory<K, V> copyWithConfigurationOverride(Map<String, Object> override) {
        Map<String, Object> configs = new HashMap<>(getConfigurationProperties());
        if (getTransactionIdPrefix() != null) {
            configs.put("transactional.id", getTransactionIdPrefix());
        }
        configs.putAll(override);
        return new MillraceProducerFactory<>(kind, configs);
    }
}
