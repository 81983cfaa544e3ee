package dev.millrace.client.io;

/**
 * The producer id and epoch of batches.
 *
 * @param id the id that the cluster gave
 * @param epoch a higher one fences lower ones
 * @param rewinds how often its partitions returned to the sequences that brokers expect because no new epoch was
 *     available
 */
public record ProducerId(long id, short epoch, int rewinds) {
    private static final long NO_ID = -1;
    private static final short NO_EPOCH = -1;

    /** Used by producers that are not idempotent: batches have no producer id. */
    static final ProducerId NONE = new ProducerId(NO_ID, NO_EPOCH, 0);

    /** The cluster has not given one yet. */
    static final ProducerId UNKNOWN = new ProducerId(-2, NO_EPOCH, 0);

    /** Creates an id that the cluster gave. */
    public ProducerId(long id, short epoch) {
        this(id, epoch, 0);
    }

    /** Whether batches can carry this id. */
    public boolean isKnown() {
        return id != UNKNOWN.id;
    }

    /** Returns the same id and epoch, with which partitions return to the sequences that brokers expect. */
    ProducerId rewound() {
        return new ProducerId(id, epoch, rewinds + 1);
    }

    boolean isSameEpochAs(ProducerId other) {
        return id == other.id && epoch == other.epoch;
    }

    /** Written by hand because the JVM creates a record's own {@code equals} at its first call, which costs 30 ms. */
    @Override
    public boolean equals(Object other) {
        return other instanceof ProducerId that && isSameEpochAs(that) && rewinds == that.rewinds;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(id) ^ epoch ^ rewinds;
    }

    /** Returns the id with the next epoch; {@link #UNKNOWN} if there is none left. */
    ProducerId bumped() {
        return epoch == Short.MAX_VALUE ? UNKNOWN : new ProducerId(id, (short) (epoch + 1));
    }
}
