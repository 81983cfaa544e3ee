package dev.millrace.mirror.cutover;

import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.groups.OffsetMapReversal;
import dev.millrace.mirror.groups.OffsetMapReversal.Ends;
import dev.millrace.mirror.progress.Rewind;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;

/**
 * Prepares a mirror from the target to the source, which begins exactly at the cut: its positions, and for groups where
 * the records before the cut are at the source.
 *
 * @param back the configuration of that mirror
 */
record WayBack(BothClusters clusters, MirrorConfig back) {
    /**
     * Commits where it begins. Blocks while the clusters answer. What the target has besides copies flows back from now
     * on.
     *
     * @param cut where the logs ended, by partitions of the source
     * @return how many partitions have a position
     */
    int keep(Map<TopicPartition, Ends> cut) {
        if (back.policies().groups().names().isPresent()) {
            new OffsetMapReversal(clusters.config(), back, clusters.sourceId(), clusters.targetId())
                    .write(clusters.source(), clusters.target(), cut);
        }
        Map<TopicPartition, Long> begins = new HashMap<>();
        cut.forEach((partition, ends) -> begins.put(clusters.config().names().onTarget(partition), ends.target()));
        return Rewind.run(back, Set.of(), (cluster, isolation, starts, ends) -> {
                    Map<TopicPartition, Long> offsets = new HashMap<>(ends);
                    offsets.replaceAll((partition, end) -> begins.getOrDefault(partition, end));
                    return offsets;
                })
                .moves()
                .size();
    }
}
