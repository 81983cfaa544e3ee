package dev.millrace.mirror.groups;

import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.offsets.OffsetRuns;
import dev.millrace.mirror.offsets.Translation;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;

/**
 * Translates what groups of the source have committed to offsets in the target's logs, by partition of the source. A
 * group would reset an offset outside of a log by its own policy, which may skip records.
 *
 * @param runs what is known of each partition
 * @param starts where the target's logs begin
 * @param ends where they end
 */
record GroupTranslation(
        Map<TopicPartition, OffsetRuns> runs, Map<TopicPartition, Long> starts, Map<TopicPartition, Long> ends) {
    /**
     * Asks the target about the copies of these partitions. It may lack some of them, or have no leader for them now.
     *
     * @param runs is asked after the target has said where its logs end: if a log loses records and gets new ones in
     *     between, its runs reveal that
     */
    static GroupTranslation of(
            Set<TopicPartition> partitions,
            CopiesOnTarget copies,
            Function<Set<TopicPartition>, Map<TopicPartition, OffsetRuns>> runs) {
        Set<TopicPartition> existing = copies.existing(partitions);
        Map<TopicPartition, Long> starts = copies.offsetsOfLed(existing, OffsetSpec.earliest());
        Map<TopicPartition, Long> ends = copies.offsetsOfLed(starts.keySet(), OffsetSpec.latest());
        return new GroupTranslation(runs.apply(partitions), starts, ends);
    }

    /** Returns where the last known record is; empty if none is known, or the target has lost it. */
    Optional<OffsetRuns.Copy> lastCopy(TopicPartition partition) {
        return Optional.ofNullable(runs.get(partition))
                .flatMap(OffsetRuns::lastCopy)
                .filter(copy -> copy.target() < ends.getOrDefault(partition, 0L));
    }

    /**
     * Returns where a group goes on. If its offset is before all known records, it goes on at the start of the target's
     * log, and sees again what the target has of them. Empty if the target lacks the partition, has no leader for it,
     * or its log ends before the translated offset: then it has lost records, and will have others at their offsets.
     */
    Optional<Translation> translate(TopicPartition partition, long committed) {
        if (!ends.containsKey(partition) || !runs.containsKey(partition)) {
            return Optional.empty();
        }
        OffsetRuns known = runs.get(partition);
        long start = starts.get(partition);
        long end = ends.get(partition);
        if (known.isBefore(committed)) {
            long unknownUntil = known.isEmpty() ? end : Math.min(end, known.firstTarget());
            return Optional.of(new Translation(start, Math.min(committed, Math.max(0, unknownUntil - start))));
        }
        Translation to = known.translate(committed);
        return to.target() > end
                ? Optional.empty()
                : Optional.of(new Translation(Math.max(start, to.target()), to.twiceAtMost()));
    }
}
