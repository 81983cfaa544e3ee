package dev.millrace.mirror.config;

import java.util.Map;
import java.util.regex.Pattern;

/**
 * What a mirror copies and with which clients.
 *
 * @param topics matches the whole names of the topics to mirror; internal topics ({@link
 *     InternalTopics#excludedFrom}) are never mirrored
 * @param names the names of their copies
 * @param threads how many threads feed the producer, at least 1; with {@link CopyMode#CONSUMER} each has a consumer
 * @param mode how records get from the source to the producer
 * @param consumer configuration of every consumer, complete except for {@link DerivedConfigs#numbered numbers}
 * @param producer configuration of the one producer, complete
 * @param policies what it does when a cluster is not in the state that it needs
 */
public record MirrorConfig(
        Pattern topics,
        TopicNames names,
        int threads,
        CopyMode mode,
        ProducerKind producerKind,
        Map<String, Object> consumer,
        Map<String, Object> producer,
        MirrorPolicies policies) {
    public MirrorConfig {
        consumer = Map.copyOf(consumer);
        producer = Map.copyOf(producer);
    }

    /** Uses the default policies and the names of the source. */
    public MirrorConfig(
            Pattern topics,
            int threads,
            CopyMode mode,
            ProducerKind producerKind,
            Map<String, Object> consumer,
            Map<String, Object> producer) {
        this(topics, TopicNames.KEPT, threads, mode, producerKind, consumer, producer, MirrorPolicies.DEFAULT);
    }

    /** Returns the same configuration with another producer. */
    public MirrorConfig withProducer(Map<String, Object> other) {
        return new MirrorConfig(topics, names, threads, mode, producerKind, consumer, other, policies);
    }

    /** Whether records and progress are written in one transaction, so that the mirror's group is on the target. */
    public boolean isExactlyOnce() {
        return policies.resume() == ResumeMode.EXACTLY_ONCE;
    }

    /** Returns a pattern for the whole names of the topics that are mirrored. */
    public Pattern mirroredTopics() {
        return names.withoutRefused(InternalTopics.excludedFrom(topics));
    }
}
