package dev.millrace.mirror.pass;

/**
 * Is told what the target has acknowledged of a partition, in the order of the source.
 *
 * <p><b>Threads:</b> one at a time.
 */
@FunctionalInterface
public interface AckedRuns {
    /** For who does not want to know. */
    AckedRuns IGNORED = (source, target, count) -> {};

    /**
     * So many records that follow one another without a gap are at the target, without a gap.
     *
     * @param source offset of the first
     * @param target offset of the first, or -1 if it is not known
     */
    void onAcknowledged(long source, long target, int count);
}
