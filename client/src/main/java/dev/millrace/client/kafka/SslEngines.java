package dev.millrace.client.kafka;

import dev.millrace.kafka.common.security.ssl.DefaultSslEngineFactory;
import java.util.Map;
import org.apache.kafka.common.security.auth.SslEngineFactory;

/** TLS as Kafka's own factory configures it. */
public final class SslEngines {
    private SslEngines() {}

    /**
     * Reads the stores that {@code ssl.keystore.*} and {@code ssl.truststore.*} name, once.
     *
     * @throws org.apache.kafka.common.KafkaException they cannot be read, or do not fit together
     */
    public static SslEngineFactory read(Map<String, ?> configs) {
        DefaultSslEngineFactory factory = new DefaultSslEngineFactory();
        factory.configure(configs);
        return factory;
    }
}
