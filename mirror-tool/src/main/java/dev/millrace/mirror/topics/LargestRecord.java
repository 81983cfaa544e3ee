package dev.millrace.mirror.topics;

import dev.millrace.client.MillraceConfig;
import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.ProducerKind;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The largest record that the mirror's producer sends. Each topic of the target enforces its own limit, which may
 * change at any time. So the producer takes whatever fits its memory and one request, unless the user has set {@code
 * max.request.size}.
 *
 * @param bytes size of a batch that holds only this record
 * @param reason what sets the limit, in words for a user
 */
public record LargestRecord(int bytes, String reason) {
    private static final Logger LOG = LoggerFactory.getLogger(LargestRecord.class);
    private static final String BROKER_LIMIT = "socket.request.max.bytes";
    private static final int DEFAULT_BROKER_LIMIT = 100 << 20;
    /** Room for what a request contains besides the batch. */
    private static final int RESERVE = 64 << 10;

    /** Blocks until the target has answered. */
    public static LargestRecord of(MirrorConfig config, Admin target) {
        ProducerConfig producer = new ProducerConfig(config.producer());
        long memory = producer.getLong(ProducerConfig.BUFFER_MEMORY_CONFIG);
        int request = producer.getInt(ProducerConfig.MAX_REQUEST_SIZE_CONFIG);
        Object record = config.producer().get(MillraceConfig.MAX_RECORD_SIZE_CONFIG);
        LargestRecord allowed;
        if (record != null) {
            int given = Math.max(request, Integer.parseInt(record.toString().strip()));
            allowed = new LargestRecord(given, "the producer's " + MillraceConfig.MAX_RECORD_SIZE_CONFIG);
        } else if (isFixed(config)) {
            allowed = new LargestRecord(request, "the producer's " + ProducerConfig.MAX_REQUEST_SIZE_CONFIG);
        } else {
            int broker = Math.max(request, brokerLimit(target) - RESERVE);
            allowed = new LargestRecord(broker, BROKER_LIMIT + " of the target's brokers");
        }
        return allowed.bytes <= memory
                ? allowed
                : new LargestRecord((int) memory, "the producer's " + ProducerConfig.BUFFER_MEMORY_CONFIG);
    }

    /**
     * Only Millrace's producer takes records larger than its normal requests, and only if the user has set no limit.
     */
    private static boolean isFixed(MirrorConfig config) {
        return config.producerKind() != ProducerKind.MILLRACE
                || config.producer().containsKey(ProducerConfig.MAX_REQUEST_SIZE_CONFIG)
                || config.producer().containsKey(MillraceConfig.MAX_RECORD_SIZE_CONFIG);
    }

    /** Returns the configuration with a producer that takes records of this size. */
    public MirrorConfig addTo(MirrorConfig config) {
        if (isFixed(config)) {
            return config;
        }
        Map<String, Object> producer = new HashMap<>(config.producer());
        producer.put(MillraceConfig.MAX_RECORD_SIZE_CONFIG, bytes);
        return config.withProducer(producer);
    }

    /** Returns the limit of one of the brokers, or Kafka's default if the target does not tell it. */
    private static int brokerLimit(Admin target) {
        try {
            return Clusters.setting(Clusters.brokerConfig(target), BROKER_LIMIT)
                    .map(Integer::parseInt)
                    .orElse(DEFAULT_BROKER_LIMIT);
        } catch (ExecutionException e) {
            LOG.debug("The target does not tell its {}", BROKER_LIMIT, e);
            return DEFAULT_BROKER_LIMIT;
        }
    }
}
