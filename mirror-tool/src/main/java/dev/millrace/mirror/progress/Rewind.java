package dev.millrace.mirror.progress;

import dev.millrace.mirror.config.ByTopic;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.fetch.ResetPolicy;
import dev.millrace.mirror.text.MirrorException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
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

    private static Rewind run(MirrorConfig config, Set<Integer> partitions, Destination to, boolean isToBeDone) {
        try (BothClusters clusters = BothClusters.connect(config)) {
            StoppedMirror mirror = new StoppedMirror(clusters);
            // Members first: what they commit until they leave is in the positions that are read then.
            boolean hasMembers = clusters.hasMirror();
            if (isToBeDone) {
                mirror.requireStopped();
            }
            MirrorPositions positions = mirror.readPositions(true);
            if (positions.committed().isEmpty()) {
                requireStartAtFirstRecord(config, clusters);
            }
            Map<TopicPartition, Uuid> ids = mirror.topicIds(partitions);
            List<Move> moves = mirror.moves(ids, positions, to);
            if (isToBeDone) {
                mirror.commit(moves.stream().filter(Move::isChange).toList(), ids, positions, false);
            }
            return new Rewind(clusters.group(), config.isExactlyOnce(), hasMembers, moves);
        } catch (KafkaException e) {
            throw MirrorException.failed("Cannot rewind", e);
        }
    }

    /** Makes sure that a mirror without a position begins with the first record, so that it can be moved from there. */
    private static void requireStartAtFirstRecord(MirrorConfig config, BothClusters clusters) {
        if (config.policies().isWayBack()) {
            throw MirrorException.failed("There is no way back yet: " + clusters.describeGroup()
                    + " has no position. 'mirror cutover --keep-way-back' commits where it begins, and nothing can"
                    + " be rewound");
        }
        if (!config.policies().starts().all(ResetPolicy::isEarliest)) {
            throw MirrorException.failed("The mirror has not started yet: " + clusters.describeGroup()
                    + " has no position. --start-at decides where it begins, and nothing can be rewound");
        }
    }
}
