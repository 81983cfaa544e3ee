package dev.millrace.mirror.verify;

import java.util.List;
import java.util.Map;

/**
 * What was found in a partition.
 *
 * @param source records of the source that were compared; of a compacted topic, keys
 * @param target records of the target that were compared; of a compacted topic, keys
 * @param same records that are the same and in order
 * @param faults how many records have each fault; an out-of-order record counts once
 * @param notOnTarget records of the source that the target has deleted, or that are before what was compared of it
 * @param notOnSource records of the target that the source has deleted, or that are before what was compared of it
 * @param notCopiedYet offsets of the source that the mirror has not copied yet; of a compacted topic, keys
 * @param areTimestampsCompared false if the target has replaced the timestamps of some records, or the source has none
 * @param first the first differences, in order
 */
public record PartitionResult(
        int partition,
        long source,
        long target,
        long same,
        Map<Fault, Long> faults,
        long notOnTarget,
        long notOnSource,
        long notCopiedYet,
        boolean areTimestampsCompared,
        List<Difference> first) {}
