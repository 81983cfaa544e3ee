package dev.millrace.client.kafka;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.common.internals.ClusterResourceListeners;
import org.apache.kafka.common.internals.Plugin;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.serialization.Serializer;

/**
 * The application's own objects that a producer works with: made and configured as the configuration says, given their
 * metrics if they want some (KIP-877), told of the cluster's id if they want to know it, and closed.
 *
 * <p><b>Threads:</b> built by one, then read by all; {@link #closeWith} once.
 */
public final class Plugins<K, V> {
    private final ProducerConfig config;
    private final Metrics metrics;
    private final Map<String, Object> clientId;
    private final List<AutoCloseable> parts = new ArrayList<>();
    private final Partitioner partitioner;
    private final Serializer<K> keySerializer;
    private final Serializer<V> valueSerializer;
    private final Interceptors<K, V> interceptors;

    /** Null serializers are made as {@code config} names them; given ones are configured already. */
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
            this.partitioner = withMetrics(
                    owned(config.getConfiguredInstance(
                            ProducerConfig.PARTITIONER_CLASS_CONFIG, Partitioner.class, clientId)),
                    ProducerConfig.PARTITIONER_CLASS_CONFIG);
            this.keySerializer = serializer(keySerializer, ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, true);
            this.valueSerializer = serializer(valueSerializer, ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, false);
            List<ProducerInterceptor<K, V>> chain = configuredInterceptors();
            parts.addAll(0, chain);
            this.interceptors = new Interceptors<>(chain, metrics);
            parts.subList(0, chain.size()).clear();
            parts.add(0, interceptors);
            listeners.maybeAddAll(chain);
        } catch (RuntimeException | Error e) {
            closeWith(new Closer(e));
            throw e;
        }
        listeners.maybeAdd(this.keySerializer);
        listeners.maybeAdd(this.valueSerializer);
    }

    @SuppressWarnings("unchecked") // what the application configures is for it to use with the right types
    private <T> Serializer<T> serializer(Serializer<T> given, String key, boolean forKeys) {
        if (given != null) {
            config.ignore(key);
            return withMetrics(owned(given), key);
        }
        Serializer<T> made = owned((Serializer<T>) config.getConfiguredInstance(key, Serializer.class));
        made.configure(config.originals(clientId), forKeys);
        return withMetrics(made, key);
    }

    @SuppressWarnings("unchecked") // as above
    private List<ProducerInterceptor<K, V>> configuredInterceptors() {
        List<?> made = config.getConfiguredInstances(
                ProducerConfig.INTERCEPTOR_CLASSES_CONFIG, ProducerInterceptor.class, clientId);
        return (List<ProducerInterceptor<K, V>>) made;
    }

    /** From now on it is closed, even if what comes next fails. */
    private <T extends AutoCloseable> T owned(T plugin) {
        if (plugin != null) {
            parts.add(plugin);
        }
        return plugin;
    }

    /** The one that was last {@link #owned} gets its metrics, if it wants some. */
    private <T extends AutoCloseable> T withMetrics(T plugin, String key) {
        if (plugin != null) {
            parts.set(parts.size() - 1, Plugin.wrapInstance(plugin, metrics, key));
        }
        return plugin;
    }

    /** Null if the application has none. */
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

    /** Closes all of them. */
    void closeWith(Closer closer) {
        parts.forEach(closer::close);
    }
}
