package dev.millrace.client.io;

/**
 * The producer id and epoch of batches.
 *
 * @param id given by the cluster
 * @param epoch a higher one fences lower ones
 */
public record ProducerId(long id, short epoch) {
    private static final long NO_ID = -1;
    private static final short NO_EPOCH = -1;

    /** For producers that are not idempotent: batches have no producer id. */
    static final ProducerId NONE = new ProducerId(NO_ID, NO_EPOCH);

    /** The cluster has not given one yet. */
    static final ProducerId UNKNOWN = new ProducerId(-2, NO_EPOCH);

    /** Whether batches can be stamped with it. */
    public boolean isKnown() {
        return id != UNKNOWN.id;
    }

    /** With the next epoch; {@link #UNKNOWN} if there is none left. */
    ProducerId bumped() {
        return epoch == Short.MAX_VALUE ? UNKNOWN : new ProducerId(id, (short) (epoch + 1));
    }
}
