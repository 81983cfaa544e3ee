package dev.millrace.mirror.groups;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.cluster.MatchingTopics;
import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.groups.OffsetMapTopic.Kept;
import dev.millrace.mirror.offsets.OffsetRuns;
import dev.millrace.mirror.progress.CommittedOffsets;
import dev.millrace.mirror.progress.GroupOffsets;
import dev.millrace.mirror.progress.MirrorGroup;
import dev.millrace.mirror.text.MirrorException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * Where groups of the source would go on at the target if they were moved there now. Making the plan only queries both
 * clusters.
 *
 * @param mapTopic the target's topic that says where the records are
 * @param positions in order of groups, topics and partitions
 * @param active those of the groups that have members on the target already
 */
public record FailoverPlan(String mapTopic, List<Position> positions, Set<String> active) {
    /**
     * Where a group would go on in a partition.
     *
     * @param source what it has committed at the source
     * @param target the offset at the target; -1 if it is not known, because the target lacks the partition, has no
     *     leader for it, or has lost records
     * @param twiceAtMost how many records it may see that it has seen before
     * @param left how many offsets the target has from there on
     * @param isFurtherThere whether the group has already gone on at the target, beyond what it has read at the source
     */
    public record Position(
            String group,
            TopicPartition partition,
            long source,
            long target,
            long twiceAtMost,
            long left,
            boolean isFurtherThere) {}

    /**
     * Makes the plan. Blocks while the clusters answer, up to the time-outs of their clients.
     *
     * @throws MirrorException when a cluster does not answer, or no group matches
     */
    public static FailoverPlan of(MirrorConfig config) {
        try (Admin source = Clusters.connect("source", DerivedConfigs.admin(config.consumer()));
                Admin target = Clusters.connect("target", DerivedConfigs.admin(config.producer()))) {
            return of(config, source, target);
        } catch (KafkaException e) {
            throw MirrorException.failed("Cannot plan", e);
        }
    }

    /** Does the same with clients of the caller's. Throws what Kafka throws when a cluster does not answer. */
    public static FailoverPlan of(MirrorConfig config, Admin source, Admin target) {
        return new Inquiry(config, source, target).plan();
    }

    /** Asks the questions of one plan. */
    private record Inquiry(MirrorConfig config, Admin source, Admin target) {
        FailoverPlan plan() {
            String own = MirrorGroup.of(
                    config,
                    Clusters.clusterId(source, config.consumer()),
                    Clusters.clusterId(target, config.producer()));
            Set<String> topics = MatchingTopics.ask(source, config).mirrored();
            Map<String, Map<TopicPartition, OffsetAndMetadata>> committed = new TreeMap<>(GroupOffsets.ofConsumers(
                    new CommittedOffsets(source),
                    config.policies().groups().names().orElseThrow(),
                    own));
            Set<TopicPartition> partitions = new TreeSet<>(Clusters.PARTITION_ORDER);
            committed.values().forEach(of -> {
                of.keySet().removeIf(partition -> !topics.contains(partition.topic()));
                partitions.addAll(of.keySet());
            });
            committed.values().removeIf(Map::isEmpty);
            if (committed.isEmpty()) {
                throw MirrorException.failed(
                        "--groups '" + config.policies().groups().names().orElseThrow()
                                + "' matches no group of the source that has committed offsets of the topics to mirror");
            }
            return plan(own, committed, partitions);
        }

        private FailoverPlan plan(
                String own,
                Map<String, Map<TopicPartition, OffsetAndMetadata>> committed,
                Set<TopicPartition> partitions) {
            Map<TopicPartition, OffsetRuns> runs = runs(own, partitions);
            GroupTranslation translation = GroupTranslation.of(partitions, copies(), unused -> runs);
            var there = new CommittedOffsets(target).of(committed.keySet());
            List<Position> positions = new ArrayList<>();
            committed.forEach((group, of) -> partitions.stream()
                    .filter(of::containsKey)
                    .forEach(partition -> positions.add(position(
                            group,
                            partition,
                            of.get(partition).offset(),
                            there.getOrDefault(group, Map.of())
                                    .get(config.names().onTarget(partition)),
                            translation))));
            return new FailoverPlan(
                    OffsetMapTopic.name(own), List.copyOf(positions), GroupOffsets.active(target, committed.keySet()));
        }

        private CopiesOnTarget copies() {
            return new CopiesOnTarget(target, config.names());
        }

        private static Position position(
                String group,
                TopicPartition partition,
                long committed,
                OffsetAndMetadata thereOrNull,
                GroupTranslation translation) {
            return translation
                    .translate(partition, committed)
                    .map(to -> {
                        long target = thereOrNull == null ? to.target() : Math.max(to.target(), thereOrNull.offset());
                        boolean isFurtherThere = target > to.target() && to.twiceAtMost() == 0;
                        long left = Math.max(0, translation.ends().get(partition) - target);
                        return new Position(
                                group, partition, committed, target, to.twiceAtMost(), left, isFurtherThere);
                    })
                    .orElse(new Position(group, partition, committed, -1, 0, 0, false));
        }

        private Map<TopicPartition, OffsetRuns> runs(String own, Set<TopicPartition> partitions) {
            OffsetMapTopic topic = new OffsetMapTopic(own, target, config);
            Map<TopicPartition, Kept> kept = topic.read(partitions::contains);
            Map<String, Uuid> sourceIds = Clusters.topicIds(source, Clusters.topics(partitions));
            Map<String, Uuid> targetIds = copies().ids(Clusters.topics(partitions));
            Map<TopicPartition, OffsetRuns> runs = new HashMap<>();
            for (TopicPartition partition : partitions) {
                Kept known = kept.get(partition);
                Uuid sourceId = sourceIds.getOrDefault(partition.topic(), Uuid.ZERO_UUID);
                Uuid targetId = targetIds.getOrDefault(partition.topic(), Uuid.ZERO_UUID);
                runs.put(partition, known == null ? new OffsetRuns() : known.runs(sourceId, targetId));
            }
            return runs;
        }
    }
}
