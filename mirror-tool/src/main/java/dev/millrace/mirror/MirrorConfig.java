package dev.millrace.mirror;

import java.util.Map;
import java.util.regex.Pattern;

/**
 * What a mirror copies, and with which clients.
 *
 * @param topics matches the whole names of the topics to mirror; internal topics, whose names start with two
 *     underscores, are never mirrored
 * @param threads how many threads feed the producer, at least 1; with {@link CopyMode#CONSUMER} each has a consumer
 * @param mode how records get from the source to the producer
 * @param onGap what to do with a partition whose next records the source has lost
 * @param consumer configuration of every consumer, complete except for {@link DerivedConfigs#numbered numbers}
 * @param producer configuration of the one producer, complete
 */
public record MirrorConfig(
        Pattern topics,
        int threads,
        CopyMode mode,
        ProducerKind producerKind,
        GapPolicy onGap,
        Map<String, Object> consumer,
        Map<String, Object> producer) {
    public MirrorConfig {
        consumer = Map.copyOf(consumer);
        producer = Map.copyOf(producer);
    }
}
