package dev.millrace.mirror.progress;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.cluster.MatchingTopics;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.fetch.FetchSettings;
import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import dev.millrace.mirror.progress.Rewind.Destination;
import dev.millrace.mirror.progress.Rewind.Move;
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
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * A mirror that does not run: reads where it would go on, and commits where it goes on instead. All methods block while the
 * clusters answer.
 */
final class StoppedMirror {
    private final BothClusters clusters;
    private final MirrorConfig config;
    private final Admin source;
    private final Admin target;
    private final String targetId;

    StoppedMirror(BothClusters clusters) {
        this.clusters = clusters;
        this.config = clusters.config();
        this.source = clusters.source();
        this.target = clusters.target();
        this.targetId = clusters.targetId();
    }

    /** @throws MirrorException if it runs */
    void requireStopped() {
        if (clusters.hasMirror()) {
            throw MirrorException.failed("The mirror runs: " + clusters.describeGroup()
                    + " has members, or its cluster does not tell. Stop it (if it was killed, wait until its members have"
                    + " timed out), and try again then");
        }
    }

    /** Returns what the group has committed of the topics that are mirrored, by partitions of its cluster. */
    Map<TopicPartition, OffsetAndMetadata> committed() {
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

    private String groupOnSource() {
        return MirrorGroup.onSource(config, targetId);
    }

    /**
     * Where a group on the target has no progress yet, the mirror goes on where the one on the source is.
     *
     * @param isChecked whether they must be those of this mirror
     */
    MirrorPositions readPositions(boolean isChecked) {
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
        return new MirrorPositions(other, true, config.names().onSource(stable)).atStart(config, source, targetId);
    }

    Map<TopicPartition, Uuid> topicIds(Set<Integer> chosen) {
        Set<String> topics = MatchingTopics.ask(source, config).requireSome().mirrored();
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

    List<Move> moves(Map<TopicPartition, Uuid> ids, MirrorPositions positions, Destination to) {
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

    /**
     * Commits where the mirror goes on, after {@link #requireStopped}.
     *
     * @param ids of the topics that the source has
     * @param positions that are there now
     * @param isEnded whether the mirror must not go on there
     * @throws MirrorException if a cluster does not take all
     */
    void commit(List<Move> moves, Map<TopicPartition, Uuid> ids, MirrorPositions positions, boolean isEnded) {
        CommitForm form = new CommitForm(config, targetId, topic -> Uuid.ZERO_UUID, new CopiedTopics());
        Map<String, TopicDescription> copies =
                new CopiesOnTarget(target, config.names()).describe(Clusters.topics(ids.keySet()));
        Map<TopicPartition, OffsetAndMetadata> onSource = new HashMap<>();
        Map<TopicPartition, OffsetAndMetadata> onTarget = new HashMap<>();
        moves.forEach(move -> {
            Optional<TopicDescription> copy = Optional.ofNullable(
                            copies.get(move.partition().topic()))
                    .filter(topic ->
                            topic.partitions().size() > move.partition().partition());
            // A cluster takes no position of a partition that it lacks.
            if (config.isExactlyOnce() && copy.isPresent()) {
                onTarget.put(
                        config.names().onTarget(move.partition()),
                        form.onTarget(
                                move.partition(),
                                new OffsetAndMetadata(move.to()),
                                ids.get(move.partition()),
                                copiedTo(move, copy, ids, positions)));
            } else {
                onSource.put(
                        move.partition(),
                        form.onSource(
                                move.partition(),
                                new OffsetAndMetadata(move.to()),
                                ids.get(move.partition()),
                                resumePoint(move, positions),
                                copiedTo(move, copy, ids, positions)));
            }
        });
        if (isEnded) {
            onSource.replaceAll((partition, position) -> ended(position));
            onTarget.replaceAll((partition, position) -> ended(position));
        }
        commit(source, groupOnSource(), "source", onSource);
        commit(target, clusters.group(), "target", onTarget);
    }

    private OffsetAndMetadata ended(OffsetAndMetadata position) {
        return CommitMetadata.of(position).marked(MirrorGroup.ended(targetId)).addTo(position);
    }

    /** Commits positions of the cluster of the group, after {@link #requireStopped}. */
    void commit(Map<TopicPartition, OffsetAndMetadata> positions) {
        commit(clusters.ofGroup(), clusters.group(), config.isExactlyOnce() ? "target" : "source", positions);
    }

    private static void commit(
            Admin cluster, String group, String role, Map<TopicPartition, OffsetAndMetadata> offsets) {
        GroupOffsets.commit(cluster, group, offsets).ifPresent(failure -> {
            throw MirrorException.failed(
                    "Group " + group + " on the " + role + " does not take all positions; start the same command again",
                    failure);
        });
    }

    /** Returns the topic of the target that has what was copied before. If it is lost, nothing was. */
    private static Uuid copiedTo(
            Move move, Optional<TopicDescription> copy, Map<TopicPartition, Uuid> ids, MirrorPositions positions) {
        OffsetAndMetadata committed = positions.committed().get(move.partition());
        if (committed == null || copy.isEmpty() || positions.isLost(move.partition(), copy)) {
            return CommitMetadata.NOTHING_COPIED;
        }
        CommitMetadata known = CommitMetadata.of(committed);
        return TopicIdentities.differ(known.topicId(), ids.get(move.partition()))
                ? CommitMetadata.NOTHING_COPIED
                : known.targetTopicId();
    }

    /**
     * Returns a new epoch of the producer that has copied before, which fences a process that hangs. With it, the
     * mirror does not look for copies of what follows, and copies it again.
     */
    private static Optional<ResumePoint> resumePoint(Move move, MirrorPositions positions) {
        return Optional.ofNullable(positions.committed().get(move.partition()))
                .map(CommitMetadata::of)
                .flatMap(CommitMetadata::resume)
                .filter(known -> known.epoch() < Short.MAX_VALUE)
                .map(known -> new ResumePoint(
                        known.producerId(), (short) (known.epoch() + 1), 0, move.to(), ResumePoint.UNKNOWN));
    }
}
