package dev.millrace.mirror.status;

/**
 * What one thread or a whole mirror has done so far. The counts are read one after the other, so they match only
 * roughly.
 *
 * @param sent records handed to the producer
 * @param acked records that the target has acknowledged
 * @param dropped records that were sent and are no longer awaited because their partition was given up
 * @param bytes of the keys and values of the records sent
 * @param unpolled records of the source that have not been polled
 * @param isLagKnown whether {@code unpolled} counts all such records; if not, there are at least so many
 */
public record MirrorTotals(long sent, long acked, long dropped, long bytes, long unpolled, boolean isLagKnown) {
    public static final MirrorTotals NONE = new MirrorTotals(0, 0, 0, 0, 0, true);

    public MirrorTotals plus(MirrorTotals other) {
        return new MirrorTotals(
                sent + other.sent,
                acked + other.acked,
                dropped + other.dropped,
                bytes + other.bytes,
                unpolled + other.unpolled,
                isLagKnown && other.isLagKnown);
    }

    /** Returns the totals without this many records of the source, which do not count. */
    public MirrorTotals withoutUnpolled(long records) {
        return new MirrorTotals(sent, acked, dropped, bytes, unpolled - records, isLagKnown);
    }

    /** Returns the records that were sent and whose outcome is still open. */
    public long inFlight() {
        return sent - acked - dropped;
    }

    /** Returns the records of the source that the target has not acknowledged. */
    public long lag() {
        return unpolled + inFlight();
    }
}
