package dev.millrace.mirror.topics;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.pass.TargetLimits;
import dev.millrace.mirror.text.MirrorException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.common.config.TopicConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows which batches the topics of the target accept unchanged. This saves work and is not needed for safety: a batch
 * that the target finds too large is split, and one in another codec is compressed again by the broker.
 *
 * <p><b>Threads:</b> any; several may wait for one answer.
 */
public final class TopicLimits {
    private static final Logger LOG = LoggerFactory.getLogger(TopicLimits.class);
    private static final Duration CACHE_TIME = Duration.ofMinutes(10);
    /** The codecs in the order of their ids in the record format. */
    private static final List<String> CODECS = List.of("uncompressed", "gzip", "snappy", "lz4", "zstd");

    private final Admin target;
    private final int maxBatchBytes;
    private final Optional<String> compression;
    private final LoadingCache<String, TargetLimits> limits =
            Caffeine.newBuilder().expireAfterWrite(CACHE_TIME).build(this::read);

    /**
     * @param maxBatchBytes the largest batch that the producer sends
     * @param compression the producer's {@code compression.type}, if the user has set it
     */
    public TopicLimits(Admin target, int maxBatchBytes, Optional<String> compression) {
        this.target = target;
        this.maxBatchBytes = maxBatchBytes;
        this.compression = compression;
    }

    /**
     * Asks the target about many topics in few requests, so that {@link #of} need not. Blocks until it has answered.
     */
    public void prepare(Collection<String> topics) {
        List<String> unknown = topics.stream()
                .filter(topic -> limits.getIfPresent(topic) == null)
                .toList();
        for (List<String> batch : Clusters.batches(unknown)) {
            Clusters.topicConfigs(target, batch).forEach((topic, answer) -> {
                try {
                    limits.put(topic, limits(Clusters.await(answer)));
                } catch (ExecutionException e) {
                    LOG.debug("Cannot read the limits of topic {} now", topic, e);
                }
            });
        }
    }

    /** Returns the limits of a topic. Blocks while it asks the target. */
    public TargetLimits of(String topic) {
        return limits.get(topic);
    }

    private TargetLimits read(String topic) {
        try {
            return limits(Clusters.topicConfig(target, topic));
        } catch (ExecutionException e) {
            LOG.info(
                    "Cannot read compression.type and max.message.bytes of topic {} on the target: {}",
                    topic,
                    MirrorException.reason(e.getCause()));
            return new TargetLimits(TargetLimits.ANY_CODEC, maxBatchBytes, openedCodec(TargetLimits.ANY_CODEC));
        }
    }

    TargetLimits limits(Config topic) {
        int codec = Clusters.setting(topic, TopicConfig.COMPRESSION_TYPE_CONFIG)
                .map(CODECS::indexOf) // -1: the topic keeps the producer's codec
                .orElse(TargetLimits.ANY_CODEC);
        int largest = Clusters.setting(topic, TopicConfig.MAX_MESSAGE_BYTES_CONFIG)
                .map(Integer::parseInt)
                .orElse(maxBatchBytes);
        return new TargetLimits(codec, Math.min(largest, maxBatchBytes), openedCodec(codec));
    }

    /** Returns the producer's codec if one is configured, otherwise the topic's. */
    private int openedCodec(int ofTopic) {
        return compression
                .map(name -> name.equals("none") ? 0 : CODECS.indexOf(name))
                .orElse(ofTopic);
    }
}
