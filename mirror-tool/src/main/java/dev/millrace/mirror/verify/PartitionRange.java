package dev.millrace.mirror.verify;

/**
 * The part of a partition that is compared.
 *
 * @param sourceTo the offset after the last record of the source; everything that the target has before {@code
 *     targetTo} was copied from before it
 * @param copiedUpTo the source offset before which the target must have everything
 * @param mayTargetLackFirst whether the target may lack the first records: it has deleted some, or the mirror began
 *     later, or only the last are compared
 * @param maySourceLackFirst whether the source may lack the first records of the target
 */
record PartitionRange(
        long sourceFrom,
        long sourceTo,
        long copiedUpTo,
        long targetFrom,
        long targetTo,
        boolean mayTargetLackFirst,
        boolean maySourceLackFirst) {
    /** Returns what is left of the range when a cluster has deleted the first records. */
    PartitionRange from(long sourceStart, long targetStart) {
        return new PartitionRange(
                sourceStart,
                sourceTo,
                Math.max(copiedUpTo, sourceStart),
                targetStart,
                targetTo,
                mayTargetLackFirst || targetStart > 0,
                maySourceLackFirst || sourceStart > 0);
    }
}
