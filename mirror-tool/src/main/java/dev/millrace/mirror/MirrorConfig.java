package dev.millrace.mirror;

import java.util.Map;
import java.util.regex.Pattern;

/**
 * What a mirror copies, and with which clients.
 *
 * @param topics matches the whole names of the topics to mirror; internal topics, whose names start with two
 *     underscores, are never mirrored
 * @param threads the number of consumers, each with a thread of its own, at least 1
 * @param consumer configuration of every consumer, complete except for {@link DerivedConfigs#numbered numbers}
 * @param producer configuration of the one producer, complete
 */
public record MirrorConfig(
        Pattern topics,
        int threads,
        ProducerKind producerKind,
        Map<String, Object> consumer,
        Map<String, Object> producer) {
    public MirrorConfig {
        consumer = Map.copyOf(consumer);
        producer = Map.copyOf(producer);
    }
}
