package dev.millrace.agent.choice;

import dev.millrace.client.MillraceProducer;
import dev.millrace.client.kafka.KafkaVersion;
import java.security.CodeSource;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.Serializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chooses for each {@code KafkaProducer} that is being constructed whether Millrace or the stock producer does its work,
 * and says why in a line of the application's log if it is the stock one. There is one for each loader that has
 * kafka-clients.
 *
 * <p><b>Threads:</b> any.
 */
public final class ProducerChoice implements UnaryOperator<Object> {
    private static final Logger log = LoggerFactory.getLogger("dev.millrace.agent");

    /** Their values are resolved when the configuration is parsed for the first time. */
    private static final String CONFIG_PROVIDERS = "config.providers";

    private final Pattern clientIds;
    private final String millraceVersion;
    private final AtomicBoolean isAnnounced = new AtomicBoolean();

    /**
     * Is called by the agent at the first producer.
     *
     * @param clientIds which producers are Millrace's
     */
    public ProducerChoice(Pattern clientIds, String millraceVersion) {
        this.clientIds = clientIds;
        this.millraceVersion = millraceVersion;
    }

    /**
     * Returns a {@code Producer} that does the work, or null if the stock one does.
     *
     * @param construction an array: the {@code KafkaProducer}, its {@code ProducerConfig}, its two serializers or null
     * @throws KafkaException as Millrace's constructor throws it, where the stock producer's would throw one, too
     */
    @Override
    public Object apply(Object construction) {
        Object[] given = (Object[]) construction;
        return millraceOrNull(
                given[0].getClass(), (ProducerConfig) given[1], (Serializer<?>) given[2], (Serializer<?>) given[3]);
    }

    private Producer<?, ?> millraceOrNull(
            Class<?> type, ProducerConfig config, Serializer<?> keySerializer, Serializer<?> valueSerializer) {
        String clientId = config.getString(ProducerConfig.CLIENT_ID_CONFIG);
        if (!clientIds.matcher(clientId).matches()) {
            return stock(clientId, "it does not match millrace.agent.client.ids=" + clientIds);
        }
        Class<?> reaching = PrivateFields.readerOrNull(type);
        if (reaching != null) {
            return stock(clientId, reaching.getName() + " looks for private fields by reflection");
        }
        try {
            Producer<?, ?> millrace =
                    new MillraceProducer<>(configs(config, clientId), cast(keySerializer), cast(valueSerializer));
            announce();
            return millrace;
        } catch (ConfigException e) { // thrown before any object of the application is made
            return stock(clientId, e.getMessage());
        } catch (KafkaException e) {
            if (e.getCause() == null || e.getCause() instanceof LinkageError) {
                return stock(clientId, e.getCause() == null ? e.getMessage() : "of " + e.getCause());
            }
            throw e;
        }
    }

    /** Returns the configuration as it was given, but for what must not happen twice: a new name, and asking providers. */
    private static Map<String, Object> configs(ProducerConfig config, String clientId) {
        Map<String, Object> configs = config.originals();
        configs.keySet().removeIf(key -> key.startsWith(CONFIG_PROVIDERS));
        configs.put(ProducerConfig.CLIENT_ID_CONFIG, clientId);
        return configs;
    }

    @SuppressWarnings("unchecked") // the types of keys and values are gone
    private static Serializer<Object> cast(Serializer<?> serializer) {
        return (Serializer<Object>) serializer;
    }

    private static Producer<?, ?> stock(String clientId, String why) {
        log.warn("The KafkaProducer {} is the stock producer, because {}", clientId, why);
        return null;
    }

    private void announce() {
        if (isAnnounced.compareAndSet(false, true)) {
            CodeSource source = Producer.class.getProtectionDomain().getCodeSource();
            log.info(
                    "The KafkaProducers of kafka-clients {} in {} are Millrace {}",
                    KafkaVersion.stated(),
                    source == null ? Producer.class.getClassLoader() : source.getLocation(),
                    millraceVersion);
        }
    }
}
