package dev.millrace.mirror.progress;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.cluster.MatchingTopics;
import dev.millrace.mirror.config.ByTopic;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.fetch.FetchSettings;
import dev.millrace.mirror.fetch.ResetPolicy;
import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import dev.millrace.mirror.text.MirrorException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * Moves the positions of a mirror that does not run, so that it goes on elsewhere.
 *
 * @param group in which the mirror keeps its progress
 * @param isGroupOnTarget whether that is a group of the target
 * @param hasMembers whether the mirror runs, so that nothing can be moved
 * @param moves of all partitions that were chosen, in order of topics and partitions
 */
public record Rewind(String group, boolean isGroupOnTarget, boolean hasMembers, List<Move> moves) {
    /**
     * What becomes of a partition's position.
     *
     * @param from where the mirror would go on; empty if it has no position
     * @param to where it goes on
     * @param first the first offset that the source has
     * @param isChange whether another position is to be committed
     */
    public record Move(TopicPartition partition, OptionalLong from, long to, long first, boolean isChange) {
        /** Returns how many offsets before {@code from} are copied a second time. */
        public long again() {
            return from.isPresent() ? Math.max(0, from.getAsLong() - to) : 0;
        }

        /** Returns how many offsets are never copied. */
        public long leftOut() {
            return Math.max(0, to - from.orElse(first));
        }
    }

    /** Where positions are moved to. */
    public interface Destination {
        /**
         * Returns an offset for each partition. May ask the source, and blocks until it has answered.
         *
         * @param starts the first offset of each partition
         * @param ends the offset after the last one that a reader with this isolation level sees
         * @throws MirrorException if a partition has no such place
         */
        Map<TopicPartition, Long> in(
                Admin source,
                IsolationLevel isolation,
                Map<TopicPartition, Long> starts,
                Map<TopicPartition, Long> ends);

        static Destination place(ResetPolicy place) {
            return (source, isolation, starts, ends) ->
                    LogPlaces.find(ByTopic.ofAll(place), source, isolation, starts, ends);
        }

        /** Returns this offset, or the first one of a log that begins later. */
        static Destination offset(long offset) {
            return (source, isolation, starts, ends) -> {
                Map<TopicPartition, Long> offsets = new HashMap<>(starts);
                offsets.replaceAll((partition, start) -> {
                    if (offset > ends.get(partition)) {
                        throw MirrorException.usage("--to " + offset + ": " + partition + " ends at offset "
                                + ends.get(partition) + " on the source");
                    }
                    return Math.max(start, offset);
                });
                return offsets;
            };
        }
    }

    /**
     * Finds out what moving would do, and changes nothing. Blocks while the clusters answer.
     *
     * @param partitions to move, of each topic that the configuration mirrors; all if there are none
     * @throws MirrorException if a cluster does not answer, no topic or partition matches, or the group has the
     *     progress of another mirror
     */
    public static Rewind plan(MirrorConfig config, Set<Integer> partitions, Destination to) {
        return run(config, partitions, to, false);
    }

    /**
     * Moves the positions. Blocks while the clusters answer. Throws what {@link #plan} throws.
     *
     * @throws MirrorException if the mirror runs, or the cluster of the group does not take the positions
     */
    public static Rewind run(MirrorConfig config, Set<Integer> partitions, Destination to) {
        return run(config, partitions, to, true);
    }

    /**
     * Commits where a mirror begins, whatever its group has done before, also for another target. Until all positions
     * are committed, the mirror is not allowed to go on. Blocks while the clusters answer, and throws what Kafka throws
     * when one does not.
     *
     * @param isToBeDone whether to commit, and not only to check
     * @throws MirrorException if the mirror runs, or a cluster does not take the positions
     */
    public static Rewind begin(BothClusters clusters, Destination at, boolean isToBeDone) {
        return new Steps(clusters).begin(at, isToBeDone);
    }

    /**
     * Keeps a mirror from going on that an earlier {@link #begin} has let begin; does nothing if there is none. Blocks
     * while the clusters answer. Throws what {@link #end} throws.
     */
    public static void endIfBegun(BothClusters clusters) {
        new Steps(clusters).endIfBegun();
    }

    /** Whether a mirror must not go on, because it was ended. Blocks while the clusters answer. */
    public static boolean isEnded(BothClusters clusters) {
        return new Steps(clusters).isEnded();
    }

    /** Whether a mirror has positions, and may go on. Blocks while the clusters answer. */
    public static boolean isBegun(BothClusters clusters) {
        Steps steps = new Steps(clusters);
        return !steps.mirrored().isEmpty() && !steps.isEnded();
    }

    /**
     * Keeps a mirror that has copied until now from going on, until {@link #begin} says where. Blocks while the clusters
     * answer.
     *
     * @throws MirrorException if the mirror runs, or the cluster of the group does not take the positions
     */
    public static void end(BothClusters clusters, Destination at) {
        new Steps(clusters).end(at);
    }

    private static Rewind run(MirrorConfig config, Set<Integer> partitions, Destination to, boolean isToBeDone) {
        try (BothClusters clusters = BothClusters.connect(config)) {
            return new Steps(clusters).run(partitions, to, isToBeDone);
        } catch (KafkaException e) {
            throw MirrorException.failed("Cannot rewind", e);
        }
    }

    private static final class Steps {
        private final BothClusters clusters;
        private final MirrorConfig config;
        private final Admin source;
        private final Admin target;
        private final String targetId;

        Steps(BothClusters clusters) {
            this.clusters = clusters;
            this.config = clusters.config();
            this.source = clusters.source();
            this.target = clusters.target();
            this.targetId = clusters.targetId();
        }

        Rewind run(Set<Integer> chosen, Destination to, boolean isToBeDone) {
            // Members first: what they commit until they leave is in the positions that are read then.
            boolean hasMembers = clusters.hasMirror();
            if (isToBeDone) {
                requireNoMembers();
            }
            MirrorPositions positions = readPositions(true);
            if (positions.committed().isEmpty() && !config.policies().starts().all(ResetPolicy::isEarliest)) {
                throw MirrorException.failed(describeGroup() + " has no position, so the mirror has not started yet:"
                        + " --start-at decides where it begins, and nothing can be rewound");
            }
            Map<TopicPartition, Uuid> ids = topicIds(chosen);
            List<Move> moves = moves(ids, positions, to);
            if (isToBeDone) {
                new Commit(this, ids, positions)
                        .run(moves.stream().filter(Move::isChange).toList(), false);
            }
            return new Rewind(clusters.group(), config.isExactlyOnce(), hasMembers, moves);
        }

        Rewind begin(Destination at, boolean isToBeDone) {
            requireNoMembers();
            MirrorPositions positions = readPositions(false);
            Map<TopicPartition, Uuid> ids = topicIds(Set.of());
            List<Move> moves = moves(ids, positions, at);
            if (isToBeDone) {
                Commit commit = new Commit(this, ids, positions);
                // Ended first: killed in between, the mirror would begin with the first records of the other
                // partitions.
                commit.run(moves, true);
                commit.run(moves, false);
            }
            return new Rewind(clusters.group(), config.isExactlyOnce(), false, moves);
        }

        /** Commits a position of each partition: one without would begin with its first record. */
        void end(Destination at) {
            requireNoMembers();
            MirrorPositions positions = readPositions(false);
            Map<TopicPartition, Uuid> ids = topicIds(Set.of());
            new Commit(this, ids, positions).run(moves(ids, positions, at), true);
        }

        void endIfBegun() {
            Map<TopicPartition, OffsetAndMetadata> begun = mirrored();
            begun.values().removeIf(position -> CommitMetadata.of(position).isEnded());
            if (!begun.isEmpty()) {
                requireNoMembers();
                begun.replaceAll((partition, position) -> Commit.ended(targetId, position));
                Commit.commit(
                        clusters.ofGroup(), clusters.group(), config.isExactlyOnce() ? "target" : "source", begun);
            }
        }

        boolean isEnded() {
            return mirrored().values().stream()
                    .anyMatch(position -> CommitMetadata.of(position).isEnded());
        }

        /** Returns what the group has committed of the topics that are mirrored, by partitions of its cluster. */
        Map<TopicPartition, OffsetAndMetadata> mirrored() {
            Map<TopicPartition, OffsetAndMetadata> mirrored =
                    MirrorPositions.committed(clusters.ofGroup(), clusters.group());
            mirrored.keySet().removeIf(partition -> !isMirrored(partition));
            return mirrored;
        }

        private boolean isMirrored(TopicPartition ofGroup) {
            Optional<String> topic =
                    config.isExactlyOnce() ? config.names().onSource(ofGroup.topic()) : Optional.of(ofGroup.topic());
            return topic.filter(config.mirroredTopics().asMatchPredicate()).isPresent();
        }

        private String describeGroup() {
            return "Group " + clusters.group() + " on the " + (config.isExactlyOnce() ? "target" : "source");
        }

        private void requireNoMembers() {
            if (clusters.hasMirror()) {
                throw MirrorException.failed(
                        describeGroup() + " has members, or its cluster does not tell: the mirror"
                                + " runs. Stop it (if it was killed, wait until its members have timed out), and try again then");
            }
        }

        private String groupOnSource() {
            return MirrorGroup.onSource(config, targetId);
        }

        /**
         * Where a group on the target has no progress yet, the mirror goes on where the one on the source is.
         *
         * @param isChecked whether they must be those of this mirror
         */
        private MirrorPositions readPositions(boolean isChecked) {
            if (isChecked) {
                new FormerProgress(config, targetId, groupOnSource(), false).check(source);
            }
            String other = MirrorGroup.onTarget(config, clusters.sourceId());
            if (!config.isExactlyOnce()) {
                ProgressConflict.requireNoProgress(
                        other,
                        target.listConsumerGroupOffsets(other).partitionsToOffsetAndMetadata(),
                        MirrorGroup.mark(targetId));
                return MirrorPositions.ofSource(source, groupOnSource());
            }
            ProgressConflict.requireNoMembers(
                    groupOnSource(),
                    source.describeConsumerGroups(List.of(groupOnSource()))
                            .describedGroups()
                            .get(groupOnSource()));
            if (isChecked) {
                new FormerProgress(config, targetId, other, true).check(target);
            }
            // The transaction of a mirror that was killed may still be decided, and move the position.
            Map<TopicPartition, OffsetAndMetadata> stable = new HashMap<>(Clusters.awaitUnchecked(
                    target.listConsumerGroupOffsets(other, new ListConsumerGroupOffsetsOptions().requireStable(true))
                            .partitionsToOffsetAndMetadata()));
            stable.values().removeIf(position -> position == null);
            Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>(
                    MirrorPositions.ofSource(source, groupOnSource()).committed());
            committed.putAll(config.names().onSource(stable));
            return new MirrorPositions(other, true, committed);
        }

        private Map<TopicPartition, Uuid> topicIds(Set<Integer> chosen) {
            Set<String> topics =
                    MatchingTopics.ask(source, config).requireSome().mirrored();
            Map<TopicPartition, Uuid> ids = Clusters.topicIdsByPartition(source, topics);
            ids.keySet().removeIf(partition -> !chosen.isEmpty() && !chosen.contains(partition.partition()));
            chosen.forEach(number -> {
                if (ids.keySet().stream().noneMatch(partition -> partition.partition() == number)) {
                    throw MirrorException.usage(
                            "--partitions " + number + ": none of the topics " + topics + " has that partition");
                }
            });
            return ids;
        }

        private List<Move> moves(Map<TopicPartition, Uuid> ids, MirrorPositions positions, Destination to) {
            IsolationLevel isolation = FetchSettings.isolation(new ConsumerConfig(config.consumer()));
            Map<TopicPartition, Long> starts = Clusters.offsets(source, ids.keySet(), OffsetSpec.earliest());
            Map<TopicPartition, Long> ends = Clusters.offsets(source, ids.keySet(), OffsetSpec.latest(), isolation);
            Map<TopicPartition, Long> offsets = to.in(source, isolation, starts, ends);
            List<Move> moves = new ArrayList<>();
            ids.keySet().stream().sorted(Clusters.PARTITION_ORDER).forEach(partition -> {
                OptionalLong from =
                        positions.find(partition, ids.get(partition), starts.get(partition), ends.get(partition));
                long offset = offsets.get(partition);
                OffsetAndMetadata committed = positions.committed().get(partition);
                boolean isThere = committed != null
                        && committed.offset() == offset
                        && CommitMetadata.of(committed).mark().equals(MirrorGroup.mark(targetId))
                        && !TopicIdentities.differ(CommitMetadata.of(committed).topicId(), ids.get(partition));
                moves.add(new Move(partition, from, offset, starts.get(partition), !isThere));
            });
            return moves;
        }
    }

    /**
     * Commits the positions.
     *
     * @param ids of the topics that the source has
     * @param positions that are there now
     */
    private record Commit(Steps steps, Map<TopicPartition, Uuid> ids, MirrorPositions positions) {
        /** @param isEnded whether the mirror must not go on there */
        void run(List<Move> moves, boolean isEnded) {
            CommitForm form = new CommitForm(steps.config, steps.targetId, topic -> Uuid.ZERO_UUID, new CopiedTopics());
            Map<String, TopicDescription> copies =
                    new CopiesOnTarget(steps.target, steps.config.names()).describe(Clusters.topics(ids.keySet()));
            Map<TopicPartition, OffsetAndMetadata> onSource = new HashMap<>();
            Map<TopicPartition, OffsetAndMetadata> onTarget = new HashMap<>();
            moves.forEach(move -> {
                Optional<TopicDescription> copy = Optional.ofNullable(copies.get(move.partition.topic()))
                        .filter(topic -> topic.partitions().size() > move.partition.partition());
                // A cluster takes no position of a partition that it lacks.
                if (steps.config.isExactlyOnce() && copy.isPresent()) {
                    onTarget.put(
                            steps.config.names().onTarget(move.partition),
                            form.onTarget(
                                    move.partition,
                                    new OffsetAndMetadata(move.to),
                                    ids.get(move.partition),
                                    copiedTo(move, copy)));
                } else {
                    onSource.put(
                            move.partition,
                            form.onSource(
                                    move.partition,
                                    new OffsetAndMetadata(move.to),
                                    ids.get(move.partition),
                                    resumePoint(move),
                                    copiedTo(move, copy)));
                }
            });
            if (isEnded) {
                onSource.replaceAll((partition, position) -> ended(steps.targetId, position));
                onTarget.replaceAll((partition, position) -> ended(steps.targetId, position));
            }
            commit(steps.source, steps.groupOnSource(), "source", onSource);
            commit(steps.target, steps.clusters.group(), "target", onTarget);
        }

        static OffsetAndMetadata ended(String targetId, OffsetAndMetadata position) {
            return new OffsetAndMetadata(
                    position.offset(),
                    position.leaderEpoch(),
                    CommitMetadata.of(position).ended(targetId).toString());
        }

        private static void commit(
                Admin cluster, String group, String role, Map<TopicPartition, OffsetAndMetadata> offsets) {
            GroupOffsets.commit(cluster, group, offsets).ifPresent(failure -> {
                throw MirrorException.failed(
                        "Group " + group + " on the " + role
                                + " does not take all positions; start the same command again",
                        failure);
            });
        }

        /** Returns the topic of the target that has what was copied before. If it is lost, nothing was. */
        private Uuid copiedTo(Move move, Optional<TopicDescription> copy) {
            OffsetAndMetadata committed = positions.committed().get(move.partition);
            if (committed == null || copy.isEmpty() || positions.isLost(move.partition, copy)) {
                return CommitMetadata.NOTHING_COPIED;
            }
            CommitMetadata known = CommitMetadata.of(committed);
            return TopicIdentities.differ(known.topicId(), ids.get(move.partition))
                    ? CommitMetadata.NOTHING_COPIED
                    : known.targetTopicId();
        }

        /**
         * Returns a new epoch of the producer that has copied before, which fences a process that hangs. With it, the
         * mirror does not look for copies of what follows, and copies it again.
         */
        private Optional<ResumePoint> resumePoint(Move move) {
            return Optional.ofNullable(positions.committed().get(move.partition))
                    .map(CommitMetadata::of)
                    .flatMap(CommitMetadata::resume)
                    .filter(known -> known.epoch() < Short.MAX_VALUE)
                    .map(known -> new ResumePoint(
                            known.producerId(), (short) (known.epoch() + 1), 0, move.to, ResumePoint.UNKNOWN));
        }
    }
}
