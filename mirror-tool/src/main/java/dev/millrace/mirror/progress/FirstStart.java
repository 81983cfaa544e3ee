package dev.millrace.mirror.progress;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.fetch.ResetPolicy;
import dev.millrace.mirror.text.Words;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
 * Commits, when a mirror first starts, where the partitions begin that the source has then, if {@code auto.offset.reset}
 * is not {@code earliest}. So each partition without a position is known later, to all processes of the group, as one
 * that has appeared since, and of which all records are to be copied.
 *
 * <p>It is the first start if the group has no position of a topic that is mirrored. The commits are made before the
 * process joins the group: of processes that start together, one commits, and the group refuses those of the others as
 * soon as it has a member. In the group on the source they are found by mirrors of all modes.
 *
 * <p><b>Threads:</b> one.
 */
public final class FirstStart {
    private static final Logger LOG = LoggerFactory.getLogger(FirstStart.class);

    private final CommitForm form;
    private final Admin source;
    private final Map<String, Object> consumer;
    private final String group;
    private final ResetPolicy policy;

    /** @param consumer configuration with the group on the source */
    public FirstStart(CommitForm form, Admin source, Map<String, Object> consumer) {
        this.form = form;
        this.source = source;
        this.consumer = consumer;
        this.group = consumer.get(ConsumerConfig.GROUP_ID_CONFIG).toString();
        this.policy = ResetPolicy.of(
                consumer.get(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG).toString());
    }

    /**
     * Returns the partitions that are to begin by the policy as soon as it can be known where, such as those without a
     * leader; a set that several threads may change.
     *
     * @param topics that are mirrored
     * @param positions of the mirror; with exactly once those of the group on the source count, too
     */
    public Set<TopicPartition> place(Set<String> topics, MirrorPositions positions, TopicIdentities identities) {
        Set<TopicPartition> unplaced = ConcurrentHashMap.newKeySet();
        if (policy.isEarliest()
                || !policy.isAllowed()
                || positions.hasAny(topics)
                || (positions.isGroupOnTarget()
                        && MirrorPositions.ofSource(source, group).hasAny(topics))) {
            return unplaced;
        }
        Clusters.partitionCounts(source, topics)
                .forEach((topic, count) -> unplaced.addAll(Clusters.partitions(topic, count)));
        try (KafkaConsumer<byte[], byte[]> reader = new KafkaConsumer<>(DerivedConfigs.withoutMember(consumer))) {
            Map<TopicPartition, SourcePositions.Start> placed = new SourcePositions(
                            reader, new Commits(), policy, identities, unplaced)
                    .find(new HashSet<>(unplaced), Set.of());
            LOG.info(
                    "The mirror starts for the first time, and begins with {} where auto.offset.reset={} says; those"
                            + " that appear later begin with their first record",
                    Words.count(placed.size(), "partition"),
                    policy.name());
        }
        return unplaced;
    }

    /** Those of the group on the source, without a member. */
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
