package dev.millrace.client.io;

/**
 * Under what name batches are written.
 *
 * @param id given by the cluster
 * @param epoch the higher one fences off the lower
 */
public record ProducerId(long id, short epoch) {
    private static final long NO_ID = -1;
    private static final short NO_EPOCH = -1;

    /** For producers that are not idempotent: batches carry no name. */
    static final ProducerId NONE = new ProducerId(NO_ID, NO_EPOCH);

    /** The cluster has not given one yet. */
    static final ProducerId UNKNOWN = new ProducerId(-2, NO_EPOCH);

    /** Whether batches can be stamped with it. */
    public boolean isKnown() {
        return id != UNKNOWN.id;
    }

    /** With the next epoch; {@link #UNKNOWN} when there is none left. */
    ProducerId bumped() {
        return epoch == Short.MAX_VALUE ? UNKNOWN : new ProducerId(id, (short) (epoch + 1));
    }
}
