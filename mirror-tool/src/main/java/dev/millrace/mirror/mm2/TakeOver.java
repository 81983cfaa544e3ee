package dev.millrace.mirror.mm2;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.cluster.MatchingTopics;
import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.progress.CommitMetadata;
import dev.millrace.mirror.progress.CommitParts;
import dev.millrace.mirror.progress.GroupOffsets;
import dev.millrace.mirror.progress.MirrorGroup;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InterruptException;

/**
 * Commits, for a mirror's group, the positions where MirrorMaker 2 has stopped, so that the mirror goes on there.
 *
 * @param group on the source
 * @param positions of all partitions to mirror, in order of topics and partitions
 */
public record TakeOver(String group, List<Position> positions) {
    /** MirrorMaker 2 writes within that time, if it has something to write. */
    private static final Duration LOOK = Duration.ofSeconds(5);

    private static final String CONNECT_PROTOCOL = "connect";
    private static final int SHOWN_PARTITIONS = 5;
    /**
     * Where the mirror goes on in a partition.
     *
     * @param offset empty if MirrorMaker 2 has kept none, so that {@code auto.offset.reset} decides
     * @param left how many offsets the source has from there on; all, if there is none
     */
    public record Position(TopicPartition partition, OptionalLong offset, long left) {}

    /**
     * Takes over. Blocks for 5 s, to see whether MirrorMaker 2 still runs, and while the clusters answer.
     *
     * @throws MirrorException when nothing has been taken over: MirrorMaker 2 still runs, the group has offsets
     *     already, the target does not have the records that MirrorMaker 2 should have copied, or a cluster does not
     *     answer
     */
    public static TakeOver run(MirrorConfig config, Mm2Progress from) {
        try (Admin source = Clusters.connect("source", DerivedConfigs.admin(config.consumer()));
                Admin target = Clusters.connect("target", DerivedConfigs.admin(config.producer()))) {
            return new Steps(config, from, source, target).run();
        } catch (KafkaException e) {
            throw MirrorException.failed("Cannot take over", e);
        }
    }

    private record Steps(MirrorConfig config, Mm2Progress from, Admin source, Admin target) {
        TakeOver run() {
            String sourceId = Clusters.clusterId(source, config.consumer());
            String targetId = Clusters.clusterId(target, config.producer());
            Clusters.checkDistinct(sourceId, targetId);
            List<TopicPartition> partitions = new ArrayList<>();
            Clusters.partitionCounts(
                            source,
                            MatchingTopics.ask(source, config).requireSome().mirrored())
                    .forEach((topic, count) -> partitions.addAll(Clusters.partitions(topic, count)));
            partitions.sort(Clusters.PARTITION_ORDER);
            String group = MirrorGroup.onSource(config, targetId);
            requireNoOffsets(source, "source", group, partitions);
            if (config.isExactlyOnce()) {
                requireNoOffsets(
                        target,
                        "target",
                        MirrorGroup.of(config, sourceId, targetId),
                        config.names().onTarget(partitions));
            }
            Map<TopicPartition, Long> offsets = findStopped(partitions);
            requireCopies(group, offsets);
            commit(group, offsets);
            return new TakeOver(group, positions(partitions, offsets));
        }

        private CopiesOnTarget copies() {
            return new CopiesOnTarget(target, config.names());
        }

        private static void requireNoOffsets(
                Admin cluster, String role, String group, Collection<TopicPartition> partitions) {
            Map<TopicPartition, OffsetAndMetadata> present = new TreeMap<>(Clusters.PARTITION_ORDER);
            present.putAll(Clusters.awaitUnchecked(
                    cluster.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata()));
            present.keySet().retainAll(partitions);
            present.values().removeIf(offset -> offset == null);
            if (!present.isEmpty()) {
                throw MirrorException.failed("Group " + group + " on the " + role + " has offsets already, of "
                        + shown(present.keySet())
                        + ": a mirror goes on there. Delete the group, or choose another with --group, to go on where"
                        + " MirrorMaker 2 has stopped");
            }
        }

        /** Returns where MirrorMaker 2 stopped in those of the partitions for which it has kept an offset. */
        private Map<TopicPartition, Long> findStopped(List<TopicPartition> partitions) {
            if (GroupOffsets.hasMembers(target, from.workers(), CONNECT_PROTOCOL)) {
                throw MirrorException.failed("MirrorMaker 2 still runs: its group " + from.workers()
                        + " on the target has members. Stop it (if it was killed, wait until its members have timed"
                        + " out, 10 s by default)");
            }
            Seen before = look(partitions);
            try {
                TimeUnit.NANOSECONDS.sleep(LOOK.toNanos());
            } catch (InterruptedException e) {
                throw new InterruptException(e);
            }
            Seen now = look(partitions);
            Set<TopicPartition> moved = now.changedSince(before);
            if (!moved.isEmpty()) {
                throw MirrorException.failed("Somebody still writes to the target, in the last " + LOOK.toSeconds()
                        + " s to " + shown(moved) + ". Stop MirrorMaker 2, and whatever else writes there");
            }
            if (now.offsets.isEmpty()) {
                throw MirrorException.failed("MirrorMaker 2 has kept no offset, in " + from.topic()
                        + " on the target, of the topics that --topics matches");
            }
            return now.offsets;
        }

        private Seen look(List<TopicPartition> partitions) {
            Map<TopicPartition, Long> offsets = from.read(target, config);
            offsets.keySet().retainAll(partitions);
            return new Seen(offsets, copies().offsets(copies().existing(partitions), OffsetSpec.latest()));
        }

        /**
         * A change in this shows that MirrorMaker 2 runs.
         *
         * @param offsets where it goes on
         * @param ends of the target's partitions
         */
        private record Seen(Map<TopicPartition, Long> offsets, Map<TopicPartition, Long> ends) {
            Set<TopicPartition> changedSince(Seen before) {
                Set<TopicPartition> changed = new TreeSet<>(Clusters.PARTITION_ORDER);
                changed.addAll(changed(before.offsets, offsets));
                changed.addAll(changed(before.ends, ends));
                return changed;
            }

            private static Set<TopicPartition> changed(
                    Map<TopicPartition, Long> before, Map<TopicPartition, Long> now) {
                return now.keySet().stream()
                        .filter(partition -> !now.get(partition).equals(before.get(partition)))
                        .collect(Collectors.toSet());
            }
        }

        /**
         * Without the copies the mirror would leave a hole: its topic is not the one that MirrorMaker 2 has written to,
         * or is new.
         */
        private void requireCopies(String group, Map<TopicPartition, Long> offsets) {
            Set<TopicPartition> absent = new TreeSet<>(Clusters.PARTITION_ORDER);
            Set<TopicPartition> unclear = new TreeSet<>(Clusters.PARTITION_ORDER);
            try (KafkaConsumer<byte[], byte[]> sourceReader = Clusters.createReader(config.consumer());
                    KafkaConsumer<byte[], byte[]> targetReader = Clusters.createReader(config.producer())) {
                CopyCheck copies = new CopyCheck(source, copies(), sourceReader, targetReader, offsets.keySet());
                offsets.forEach((partition, offset) -> {
                    switch (copies.check(partition, offset)) {
                        case PRESENT -> {}
                        case ABSENT -> absent.add(partition);
                        case UNCLEAR -> unclear.add(partition);
                    }
                });
            }
            if (!absent.isEmpty()) {
                TopicPartition first = absent.iterator().next();
                throw MirrorException.failed("The target does not have the last record that MirrorMaker 2 should have"
                        + " copied, of " + shown(absent) + ", whose copy would be "
                        + config.names().onTarget(first) + ". Has it written to topics of other names"
                        + " (--topic-prefix " + from.alias() + ". is what its DefaultReplicationPolicy does), or was a"
                        + " topic created anew? --exclude-topics leaves topics out, which the mirror then copies from"
                        + " the beginning");
            }
            if (!unclear.isEmpty()) {
                TopicPartition first = unclear.iterator().next();
                throw MirrorException.failed("The target has records of " + shown(unclear) + ", but not, among those"
                        + " that were looked at, the last one of the source before the offset of MirrorMaker 2. It may"
                        + " have been deleted there, or changed by a transformation, or another program writes to the"
                        + " topic. 'mirror verify' tells how the copies differ. If the mirror is to go on there all the"
                        + " same, commit the offset on the source yourself, and those of all others: kafka-consumer-groups"
                        + " --group " + group + " --topic " + first.topic() + ":" + first.partition()
                        + " --reset-offsets --to-offset " + offsets.get(first) + " --execute");
            }
        }

        private void commit(String group, Map<TopicPartition, Long> offsets) {
            Map<String, Uuid> ids = Clusters.topicIds(source, Clusters.topics(offsets.keySet()));
            Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
            offsets.forEach((partition, offset) -> positions.put(
                    partition,
                    new CommitMetadata(
                                    "",
                                    ids.getOrDefault(partition.topic(), Uuid.ZERO_UUID),
                                    Optional.empty(),
                                    Optional.empty(),
                                    Optional.of(config.names().onTarget(partition.topic())),
                                    Uuid.ZERO_UUID)
                            .addTo(new OffsetAndMetadata(offset))));
            for (Map<TopicPartition, OffsetAndMetadata> part : CommitParts.of(positions)) {
                GroupOffsets.commit(source, group, part).ifPresent(failure -> {
                    throw MirrorException.failed("Cannot commit for group " + group + " on the source", failure);
                });
            }
        }

        private List<Position> positions(List<TopicPartition> partitions, Map<TopicPartition, Long> offsets) {
            Map<TopicPartition, Long> starts = Clusters.offsets(source, partitions, OffsetSpec.earliest());
            Map<TopicPartition, Long> ends = Clusters.offsets(source, partitions, OffsetSpec.latest());
            return partitions.stream()
                    .map(partition -> new Position(
                            partition,
                            offsets.containsKey(partition)
                                    ? OptionalLong.of(offsets.get(partition))
                                    : OptionalLong.empty(),
                            ends.get(partition) - offsets.getOrDefault(partition, starts.get(partition))))
                    .toList();
        }

        private static String shown(Set<TopicPartition> partitions) {
            String names = partitions.stream()
                    .limit(SHOWN_PARTITIONS)
                    .map(TopicPartition::toString)
                    .collect(Collectors.joining(", "));
            int more = partitions.size() - SHOWN_PARTITIONS;
            return more > 0 ? names + " and " + Words.count(more, "other partition") : names;
        }
    }
}
