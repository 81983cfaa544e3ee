package dev.millrace.mirror.fetch;

/**
 * A transaction whose records in the fetched range are aborted.
 *
 * @param firstOffset where its first record is; it ends at the producer's next abort marker
 */
public record AbortedTxn(long producerId, long firstOffset) {}
