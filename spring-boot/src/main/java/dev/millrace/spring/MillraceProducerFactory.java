package dev.millrace.spring;

import dev.millrace.client.MillraceProducer;
import java.util.Map;
import org.apache.kafka.clients.producer.Producer;
import org.springframework.context.ApplicationContext;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.core.ProducerPostProcessor;
import org.springframework.util.ReflectionUtils;

/**
 * Spring Kafka's own producer factory, but with Millrace's producers. What Spring adds to a producer, such as
 * transactions, listeners and metrics, it adds to these as well. With Spring Boot, {@link MillraceAutoConfiguration}
 * makes it; without, a program does:
 *
 * <pre>{@code
 * var template = new KafkaTemplate<>(MillraceProducerFactory.from(new DefaultKafkaProducerFactory<>(config)));
 * }</pre>
 *
 * <p><b>Threads:</b> any number, as with {@link DefaultKafkaProducerFactory}; set it up before.
 *
 * <p>Creating a producer throws what the constructor of {@link MillraceProducer} throws, above all
 * {@link org.apache.kafka.common.config.ConfigException} for a configuration that Millrace refuses.
 *
 * @param <K> type of the keys
 * @param <V> type of the values
 */
public class MillraceProducerFactory<K, V> extends DefaultKafkaProducerFactory<K, V> {
    /** Of the application; null if there is no application context. */
    private ClassLoader classLoader;

    // Not private, because then Spring could not put a proxy before the factory.
    MillraceProducerFactory(DefaultKafkaProducerFactory<K, V> original) {
        super(
                original.getConfigurationProperties(),
                original.getKeySerializerSupplier(),
                original.getValueSerializerSupplier(),
                original.isConfigureSerializers());
    }

    /**
     * A factory with all that another one was given: configuration, serializers, prefix of transaction ids, listeners,
     * post processors and so on. What is given to the other one later is not taken over, nor are the producers that it
     * has made. Does not block.
     *
     * @param original which can be discarded if it has made no producer yet
     * @param <K> type of the keys
     * @param <V> type of the values
     */
    public static <K, V> MillraceProducerFactory<K, V> from(DefaultKafkaProducerFactory<K, V> original) {
        MillraceProducerFactory<K, V> factory = new MillraceProducerFactory<>(original);
        // Fields, because not everything has a getter: neither the maximum age of a producer has one, nor what chooses
        // the suffixes of transaction ids, nor what names the bootstrap servers.
        ReflectionUtils.shallowCopyFieldState(original, factory);
        // Again, because the suppliers just copied configure serializers with the configuration of the other factory.
        factory.setKeySerializerSupplier(original.getKeySerializerSupplier());
        factory.setValueSerializerSupplier(original.getValueSerializerSupplier());
        original.getListeners().forEach(factory::addListener);
        original.getPostProcessors().forEach(factory::addPostProcessor);
        return factory;
    }

    @Override
    public void setApplicationContext(ApplicationContext applicationContext) {
        super.setApplicationContext(applicationContext);
        classLoader = applicationContext.getClassLoader();
    }

    /**
     * Creates a producer. The configuration may name classes that only the application's class loader finds, and a
     * thread of a common pool has another one, as Spring Kafka 4.1 knows.
     */
    @Override
    protected Producer<K, V> createRawProducer(Map<String, Object> configs) {
        Thread thread = Thread.currentThread();
        ClassLoader loaderOfThread = thread.getContextClassLoader();
        thread.setContextClassLoader(classLoader == null ? loaderOfThread : classLoader);
        try {
            Producer<K, V> producer = new MillraceProducer<>(configs, getKeySerializer(), getValueSerializer());
            for (ProducerPostProcessor<K, V> processor : getPostProcessors()) {
                producer = processor.apply(producer);
            }
            return producer;
        } finally {
            thread.setContextClassLoader(loaderOfThread);
        }
    }

    /** For a template with its own configuration; Spring's method alone would return a factory of stock producers. */
    @Override
    public ProducerFactory<K, V> copyWithConfigurationOverride(Map<String, Object> override) {
        return from((DefaultKafkaProducerFactory<K, V>) super.copyWithConfigurationOverride(override));
    }
}
