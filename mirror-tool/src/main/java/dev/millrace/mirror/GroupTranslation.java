package dev.millrace.mirror;

import dev.millrace.mirror.offsets.OffsetRuns;
import dev.millrace.mirror.offsets.Translation;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;

/**
 * Translates what groups of the source have committed, within what the target's log has: an offset outside of it would
 * be reset by the group's own policy, which may skip records.
 *
 * @param runs what is known of each partition
 * @param starts where the target's logs begin
 * @param ends where they end
 */
record GroupTranslation(
        Map<TopicPartition, OffsetRuns> runs, Map<TopicPartition, Long> starts, Map<TopicPartition, Long> ends) {
    private static final OffsetRuns NOTHING = new OffsetRuns();

    /** Asks the target about these partitions, of which it may lack some. */
    static GroupTranslation of(Map<TopicPartition, OffsetRuns> runs, Set<TopicPartition> partitions, Admin target) {
        Set<TopicPartition> existing = Clusters.existing(target, partitions);
        return new GroupTranslation(
                runs,
                Clusters.offsets(target, existing, OffsetSpec.earliest()),
                Clusters.offsets(target, existing, OffsetSpec.latest()));
    }

    /** Whether the target has the partition. */
    boolean isPossible(TopicPartition partition) {
        return ends.containsKey(partition);
    }

    /** Of what was before all that is known, the group sees again what the target has of it. */
    Translation translate(TopicPartition partition, long committed) {
        OffsetRuns known = runs.getOrDefault(partition, NOTHING);
        long start = starts.get(partition);
        long end = ends.get(partition);
        if (known.isBefore(committed)) {
            long unknownUntil = known.isEmpty() ? end : Math.min(end, known.firstTarget());
            return new Translation(start, Math.min(committed, Math.max(0, unknownUntil - start)));
        }
        Translation to = known.translate(committed);
        return new Translation(Math.max(start, Math.min(end, to.target())), to.twiceAtMost());
    }
}
