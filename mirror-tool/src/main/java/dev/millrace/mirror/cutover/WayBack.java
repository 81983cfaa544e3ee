package dev.millrace.mirror.cutover;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.cluster.MatchingTopics;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.groups.OffsetMapReversal;
import dev.millrace.mirror.groups.OffsetMapReversal.Ends;
import dev.millrace.mirror.progress.BothClusters;
import dev.millrace.mirror.progress.MirrorTurn;
import dev.millrace.mirror.progress.Rewind;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;

/**
 * Turns the direction: a mirror from the target to the source begins exactly at the cut, and the mirror that has
 * copied until now must not go on, because it would copy what the other one brings. Groups learn where the records before the cut
 * are at the source.
 *
 * @param back the configuration of the mirror in the other direction
 */
record WayBack(BothClusters clusters, MirrorConfig back) {
    /**
     * Makes sure that the direction can be turned. Blocks while the clusters answer.
     *
     * @throws MirrorException naming what is in the way
     */
    void check() {
        List<String> unmatched =
                MatchingTopics.ask(clusters.source(), clusters.config()).requireSome().mirrored().stream()
                        .map(clusters.config().names()::onTarget)
                        .filter(back.mirroredTopics().asMatchPredicate().negate())
                        .toList();
        if (!unmatched.isEmpty()) {
            throw MirrorException.failed(
                    "--keep-way-back: the mirror back would not find " + Words.list(unmatched, "topic")
                            + ": --topics has an expression that only matches without the prefix, such as one that begins with ^");
        }
        new MirrorTurn(clusters.turned(back)).requireBeginPossible(at(Map.of()));
    }

    /**
     * Lets the mirror back begin. Blocks while the clusters answer.
     *
     * @param cut where the logs of the source end, which is what the mirror has committed before it was stopped
     * @return where the logs of both clusters end now
     * @throws MirrorException if the mirror back runs, or a cluster does not take the positions
     */
    Map<TopicPartition, Ends> begin(Map<TopicPartition, Long> cut) {
        CopiesOnTarget copies =
                new CopiesOnTarget(clusters.target(), clusters.config().names());
        Map<TopicPartition, Long> targetEnds = copies.offsets(copies.existing(cut.keySet()), OffsetSpec.latest());
        Map<TopicPartition, Ends> ends = new HashMap<>();
        targetEnds.forEach((partition, end) -> ends.put(partition, new Ends(cut.get(partition), end)));
        if (back.policies().groups().names().isPresent()) {
            new OffsetMapReversal(clusters.config(), back, clusters.sourceId(), clusters.targetId())
                    .write(clusters.source(), clusters.target(), ends);
        }
        Map<TopicPartition, Long> begins = clusters.config().names().onTarget(targetEnds);
        Set<TopicPartition> without = new TreeSet<>(Clusters.PARTITION_ORDER);
        without.addAll(begins.keySet());
        without.removeAll(new MirrorTurn(clusters.turned(back)).begin(at(begins)));
        if (!without.isEmpty()) {
            throw MirrorException.failed("The mirror back does not find "
                    + Words.list(without.stream().map(TopicPartition::toString).toList(), "partition"));
        }
        return ends;
    }

    /** Keeps the mirror from going on. Blocks and throws as {@link #begin} does. */
    void endMirror(Map<TopicPartition, Long> cut) {
        new MirrorTurn(clusters).end(at(cut));
    }

    /** Takes back {@link #endMirror}. Blocks and throws as {@link #begin} does. */
    void letMirrorGoOn() {
        new MirrorTurn(clusters).revoke();
    }

    /** Keeps a mirror back from going on where it was once. Blocks and throws as {@link #begin} does. */
    void endBack() {
        new MirrorTurn(clusters.turned(back)).endIfBegun();
    }

    /** Whether {@link #endMirror} was done. Blocks while the clusters answer. */
    boolean isMirrorEnded() {
        return new MirrorTurn(clusters).isEnded();
    }

    /** Whether the mirror has ended, and the mirror back has begun. Blocks while the clusters answer. */
    boolean isTurned() {
        return isMirrorEnded() && new MirrorTurn(clusters.turned(back)).isBegun();
    }

    /** Returns these offsets, and for other partitions where they end. */
    private static Rewind.Destination at(Map<TopicPartition, Long> known) {
        return (cluster, isolation, starts, ends) -> {
            Map<TopicPartition, Long> offsets = new HashMap<>(ends);
            offsets.replaceAll((partition, end) -> known.getOrDefault(partition, end));
            return offsets;
        };
    }
}
