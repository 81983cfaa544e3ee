package dev.millrace.client.kafka;

import dev.millrace.kafka.common.internals.ClusterResourceListeners;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.serialization.Serializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The application's objects: partitioner, serializers and interceptors. This class creates and configures them from the
 * configuration, gives them metrics if they are {@code Monitorable} (KIP-877) and the cluster's id if they listen for
 * it, and closes them.
 *
 * <p><b>Threads:</b> built by one thread, then read by all; {@link #closeWith} once.
 */
public final class Plugins<K, V> {
    private static final Logger log = LoggerFactory.getLogger(Plugins.class);

    private final ProducerConfig config;
    private final Metrics metrics;
    private final Map<String, Object> clientId;
    private final List<AutoCloseable> parts = new ArrayList<>();
    private final Partitioner partitioner;
    private final Serializer<K> keySerializer;
    private final Serializer<V> valueSerializer;
    private final Interceptors<K, V> interceptors;

    /** Creates serializers that are null from {@code config}; others must be configured. */
    Plugins(
            ProducerConfig config,
            Metrics metrics,
            ClusterResourceListeners listeners,
            Serializer<K> keySerializer,
            Serializer<V> valueSerializer) {
        this.config = config;
        this.metrics = metrics;
        this.clientId = Map.of(ProducerConfig.CLIENT_ID_CONFIG, config.getString(ProducerConfig.CLIENT_ID_CONFIG));
        try {
            this.partitioner = addMetrics(
                    closeLater(config.getConfiguredInstance(
                            ProducerConfig.PARTITIONER_CLASS_CONFIG, Partitioner.class, clientId)),
                    ProducerConfig.PARTITIONER_CLASS_CONFIG);
            this.keySerializer = serializer(keySerializer, ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, true);
            this.valueSerializer = serializer(valueSerializer, ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, false);
            List<ProducerInterceptor<K, V>> chain = configuredInterceptors();
            addInterceptors(chain);
            this.interceptors = new Interceptors<>(chain);
            listeners.maybeAddAll(chain);
        } catch (RuntimeException | Error e) {
            closeWith(new Closer(e));
            throw e;
        }
        listeners.maybeAdd(this.keySerializer);
        listeners.maybeAdd(this.valueSerializer);
    }

    @SuppressWarnings("unchecked") // the application must configure classes of the right types
    private <T> Serializer<T> serializer(Serializer<T> given, String key, boolean forKeys) {
        if (given != null) {
            config.ignore(key);
            return addMetrics(closeLater(given), key);
        }
        Serializer<T> made = closeLater((Serializer<T>) config.getConfiguredInstance(key, Serializer.class));
        made.configure(config.originals(clientId), forKeys);
        return addMetrics(made, key);
    }

    @SuppressWarnings("unchecked") // as above
    private List<ProducerInterceptor<K, V>> configuredInterceptors() {
        List<?> made = config.getConfiguredInstances(
                ProducerConfig.INTERCEPTOR_CLASSES_CONFIG, ProducerInterceptor.class, clientId);
        return (List<ProducerInterceptor<K, V>>) made;
    }

    /** Interceptors are closed first. Like the stock producer, this only logs the exceptions that they throw then. */
    private void addInterceptors(List<ProducerInterceptor<K, V>> chain) {
        parts.addAll(0, chain);
        for (int i = 0; i < chain.size(); i++) {
            AutoCloseable measured =
                    KafkaApi.withMetrics(chain.get(i), metrics, ProducerConfig.INTERCEPTOR_CLASSES_CONFIG);
            parts.set(i, () -> closeInterceptor(measured));
        }
    }

    private static void closeInterceptor(AutoCloseable interceptor) {
        try {
            interceptor.close();
        } catch (Exception e) {
            log.error("An interceptor could not be closed", e);
        }
    }

    /** Registers an object for closing, so that it is closed even if the next one cannot be created. */
    private <T extends AutoCloseable> T closeLater(T plugin) {
        if (plugin != null) {
            parts.add(plugin);
        }
        return plugin;
    }

    /** Gives the object that was last passed to {@link #closeLater} its metrics, if it is {@code Monitorable}. */
    private <T extends AutoCloseable> T addMetrics(T plugin, String key) {
        if (plugin != null) {
            parts.set(parts.size() - 1, KafkaApi.withMetrics(plugin, metrics, key));
        }
        return plugin;
    }

    /** Returns the partitioner; null if the application has none. */
    public Partitioner partitioner() {
        return partitioner;
    }

    public Serializer<K> keySerializer() {
        return keySerializer;
    }

    public Serializer<V> valueSerializer() {
        return valueSerializer;
    }

    public Interceptors<K, V> interceptors() {
        return interceptors;
    }

    /** Closes all objects, interceptors first. */
    void closeWith(Closer closer) {
        parts.forEach(closer::close);
    }
}
