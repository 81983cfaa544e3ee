package dev.millrace.mirror.pass;

/**
 * Receives the acknowledged records of a partition in the order of the source.
 *
 * <p><b>Threads:</b> one at a time.
 */
@FunctionalInterface
public interface AckedRuns {
    /** Ignores everything; used when nobody needs the offsets. */
    AckedRuns IGNORED = (source, target, count) -> {};

    /**
     * This many records are at the target; their offsets are consecutive on both sides.
     *
     * @param source offset of the first
     * @param target offset of the first, or -1 if it is not known
     */
    void onAcknowledged(long source, long target, int count);
}
