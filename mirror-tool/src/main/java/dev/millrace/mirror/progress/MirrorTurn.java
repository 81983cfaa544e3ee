package dev.millrace.mirror.progress;

import dev.millrace.mirror.progress.Rewind.Destination;
import dev.millrace.mirror.progress.Rewind.Move;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * Lets a mirror begin where it is told, and keeps one from going on, by what its positions say; for the way back of a
 * cutover. All methods block while the clusters answer, and throw what Kafka throws when one does not.
 *
 * @param clusters as this mirror sees them
 */
public record MirrorTurn(BothClusters clusters) {
    /**
     * Makes sure that {@link #begin} is possible.
     *
     * @throws dev.millrace.mirror.text.MirrorException if the mirror runs
     */
    public void requireBeginPossible(Destination at) {
        StoppedMirror mirror = new StoppedMirror(clusters);
        mirror.requireStopped();
        List<Move> unused = mirror.moves(mirror.topicIds(Set.of()), mirror.readPositions(false), at);
    }

    /**
     * Commits where the mirror begins, whatever its group has done before, also for another target. Until all positions
     * are committed, the mirror must not go on.
     *
     * @return the partitions that it copies
     * @throws dev.millrace.mirror.text.MirrorException if the mirror runs, or a cluster does not take the positions
     */
    public Set<TopicPartition> begin(Destination at) {
        return commit(at, true);
    }

    /**
     * Keeps the mirror that has copied until now from going on, until {@link #begin} says where, or {@link #revoke} lets it.
     * Commits a position of each partition: one without would begin with its first record.
     *
     * @throws dev.millrace.mirror.text.MirrorException if the mirror runs, or a cluster does not take the positions
     */
    public void end(Destination at) {
        Set<TopicPartition> unused = commit(at, false);
    }

    private Set<TopicPartition> commit(Destination at, boolean mayGoOn) {
        StoppedMirror mirror = new StoppedMirror(clusters);
        mirror.requireStopped();
        MirrorPositions positions = mirror.readPositions(false);
        Map<TopicPartition, Uuid> ids = mirror.topicIds(Set.of());
        List<Move> moves = mirror.moves(ids, positions, at);
        // Ended first: killed while it commits others, the mirror would begin with the first records of the rest.
        mirror.commit(moves, ids, positions, true);
        if (mayGoOn) {
            mirror.commit(moves, ids, positions, false);
        }
        return ids.keySet();
    }

    /**
     * Takes back {@link #end}: the mirror may go on where it was.
     *
     * @throws dev.millrace.mirror.text.MirrorException if the mirror runs, or a cluster does not take the positions
     */
    public void revoke() {
        replaceMark(MirrorGroup.ended(clusters.targetId()), MirrorGroup.mark(clusters.targetId()));
    }

    /**
     * Keeps the mirror from going on where an earlier {@link #begin} or its own commits have left it; does nothing if it
     * has no position.
     *
     * @throws dev.millrace.mirror.text.MirrorException if the mirror runs, or a cluster does not take the positions
     */
    public void endIfBegun() {
        replaceMark(MirrorGroup.mark(clusters.targetId()), MirrorGroup.ended(clusters.targetId()));
    }

    private void replaceMark(String former, String mark) {
        StoppedMirror mirror = new StoppedMirror(clusters);
        Map<TopicPartition, OffsetAndMetadata> marked = mirror.committed();
        marked.values().removeIf(position -> !CommitMetadata.of(position).mark().equals(former));
        if (!marked.isEmpty()) {
            mirror.requireStopped();
            marked.replaceAll((partition, position) ->
                    CommitMetadata.of(position).marked(mark).addTo(position));
            mirror.commit(marked);
        }
    }

    /** Whether the mirror must not go on. */
    public boolean isEnded() {
        return isEnded(new StoppedMirror(clusters).committed());
    }

    /** Whether the mirror has positions, and may go on. */
    public boolean isBegun() {
        Map<TopicPartition, OffsetAndMetadata> committed = new StoppedMirror(clusters).committed();
        return !committed.isEmpty() && !isEnded(committed);
    }

    private static boolean isEnded(Map<TopicPartition, OffsetAndMetadata> committed) {
        return committed.values().stream()
                .anyMatch(position -> CommitMetadata.of(position).isEnded());
    }
}
