package dev.millrace.mirror.progress;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.ByTopic;
import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.fetch.ResetPolicy;
import dev.millrace.mirror.text.Words;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * When a mirror first starts and is not to begin everywhere with the first record, commits where the partitions that the
 * source has then begin. So all processes of the group know later that a partition without a position has appeared
 * since, and that all its records must be copied.
 *
 * <p>It is the first start if the group has no position of a topic that is mirrored. The commits are made before the
 * process joins the group: of processes that start together, one commits, and the group refuses those of the others as
 * soon as it has a member. Mirrors of all modes find the commits in the group on the source.
 *
 * <p><b>Threads:</b> one.
 */
public final class FirstStart {
    private static final Logger LOG = LoggerFactory.getLogger(FirstStart.class);

    private final CommitForm form;
    private final Admin source;
    private final Map<String, Object> consumer;
    private final String group;

    /** @param consumer configuration with the group on the source */
    public FirstStart(CommitForm form, Admin source, Map<String, Object> consumer) {
        this.form = form;
        this.source = source;
        this.consumer = consumer;
        this.group = consumer.get(ConsumerConfig.GROUP_ID_CONFIG).toString();
    }

    /**
     * Returns the partitions that begin elsewhere than with their first record once that place is known, such as those
     * without a leader. Several threads may change the returned set.
     *
     * @param topics that are mirrored
     * @param positions of the mirror; with exactly once those of the group on the source count, too
     */
    public Set<TopicPartition> place(Set<String> topics, MirrorPositions positions, TopicIdentities identities) {
        Set<TopicPartition> unplaced = ConcurrentHashMap.newKeySet();
        ByTopic<ResetPolicy> starts = form.config().policies().starts();
        if (starts.all(where -> where.isEarliest() || !where.isAllowed())) {
            return unplaced;
        }
        Set<String> without = positions.withoutAny(topics);
        if (positions.isGroupOnTarget()) {
            without.retainAll(MirrorPositions.ofSource(source, group).withoutAny(topics));
        }
        if (without.size() < topics.size()) {
            without.removeIf(
                    topic -> starts.of(topic).isEarliest() || !starts.of(topic).isAllowed());
            if (!without.isEmpty()) {
                LOG.info(
                        "This is not the mirror's first start, so it begins with the first record of {}, whatever"
                                + " --start-at says. To begin elsewhere, stop the mirror and use 'mirror rewind'",
                        Words.list(without, "topic"));
            }
            return unplaced;
        }
        Clusters.partitionCounts(source, topics).forEach((topic, count) -> {
            if (starts.of(topic).isAllowed()) {
                unplaced.addAll(Clusters.partitions(topic, count));
            }
        });
        try (KafkaConsumer<byte[], byte[]> reader = new KafkaConsumer<>(DerivedConfigs.withoutMember(consumer))) {
            Set<TopicPartition> placed = new SourcePositions(
                            reader, new Commits(), starts::of, ResetPolicy.of("none"), identities, unplaced)
                    .find(new HashSet<>(unplaced), Set.of())
                    .keySet();
            Map<String, Long> counts = placed.stream()
                    .collect(Collectors.groupingBy(
                            partition -> starts.of(partition.topic()).name(), TreeMap::new, Collectors.counting()));
            if (placed.isEmpty()) { // The members will ask again.
                return unplaced;
            }
            LOG.info(
                    "The mirror starts for the first time, and begins with {}; partitions that appear later begin with"
                            + " their first record",
                    counts.entrySet().stream()
                            .map(next -> Words.count(next.getValue(), "partition") + " at " + next.getKey())
                            .collect(Collectors.joining(", ")));
        }
        return unplaced;
    }

    /** Reads and commits positions of the group on the source without joining it. */
    private final class Commits implements SourcePositions.Committed {
        @Override
        public Map<TopicPartition, Optional<OffsetAndMetadata>> of(Set<TopicPartition> partitions) {
            return partitions.stream().collect(Collectors.toMap(partition -> partition, none -> Optional.empty()));
        }

        @Override
        public Set<TopicPartition> commit(Map<TopicPartition, SourcePositions.Start> starts) {
            Optional<Throwable> failure = GroupOffsets.commit(source, group, SourceProgress.positions(form, starts));
            failure.ifPresent(cause -> LOG.debug(
                    "Group {} does not take where {} begin; its members commit it", group, starts.keySet(), cause));
            return failure.isEmpty() ? starts.keySet() : Set.of();
        }
    }
}
