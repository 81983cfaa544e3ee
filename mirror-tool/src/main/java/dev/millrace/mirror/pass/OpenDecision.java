package dev.millrace.mirror.pass;

/**
 * Decides for each batch of one partition whether it is passed or opened, and why.
 *
 * <p>Small batches are opened and merged if that is cheaper in total. A batch costs the target's broker about 80 µs of
 * CPU whatever it contains. Opening a batch costs the mirror some time for each record and for each byte, much more if
 * the byte is compressed. So batches are opened as long as an average one costs less to open than to pass: with 33
 * compressed bytes a record, up to about 190 records. The average covers about the last dozen batches and must clearly
 * cross the limit before the choice changes: a passed batch ends the batch being filled, so frequent changes would make
 * small batches.
 *
 * <p><b>Threads:</b> one, the worker that owns the partition.
 */
public final class OpenDecision {
    /** What one more batch costs the target, beyond its records. */
    static final int BATCH_NANOS = 80_000;

    /** What opening a batch costs: for each record regardless of its size, and for each byte of the batch. */
    private static final int RECORD_NANOS = 100;

    private static final int BYTE_NANOS = 1;
    private static final int COMPRESSED_BYTE_NANOS = 10;

    /** The average must exceed the limit by this factor before the choice changes. */
    private static final double HYSTERESIS = 1.25;

    /** The weight of the latest batch in the average. */
    private static final double LATEST_WEIGHT = 1.0 / 8;

    private final PassMode mode;
    private final TargetLimits target;
    private double averageOpenNanos = Double.NaN;
    private boolean mergesSmall;

    public OpenDecision(PassMode mode, TargetLimits target) {
        this.mode = mode;
        this.target = target;
    }

    /** Includes the batch in the average. Call it once for each batch with data, before asking about it. */
    public void onBatch(SourceBatch batch) {
        if (batch.isOldFormat() || batch.count() == 0) {
            return; // it is opened anyway and says nothing about the next
        }
        double openNanos = openNanos(batch);
        if (Double.isNaN(averageOpenNanos)) {
            averageOpenNanos = openNanos;
            mergesSmall = openNanos < BATCH_NANOS;
            return;
        }
        averageOpenNanos += (openNanos - averageOpenNanos) * LATEST_WEIGHT;
        if (mergesSmall) {
            mergesSmall = averageOpenNanos < BATCH_NANOS * HYSTERESIS;
        } else {
            mergesSmall = averageOpenNanos < BATCH_NANOS / HYSTERESIS;
        }
    }

    private static double openNanos(SourceBatch batch) {
        double byteNanos = batch.codecId() == 0 ? BYTE_NANOS : COMPRESSED_BYTE_NANOS;
        return RECORD_NANOS * (double) batch.count() + byteNanos * batch.size();
    }

    /**
     * Returns why the batch must be opened, or null if it is passed.
     *
     * @param batch has data, and was not aborted
     * @param position the offset of the first record that the target does not have yet
     */
    public OpenReason reasonToOpenOrNull(SourceBatch batch, long position) {
        if (batch.isControl()) {
            throw new IllegalArgumentException("The batch at offset " + batch.baseOffset()
                    + " is a control batch: it has no data, and only moves the position");
        }
        OpenReason unfit = reasonOfHeaderOrNull(batch, position);
        if (unfit != null) {
            return unfit;
        }
        if (!target.isCodec(batch.codecId())) {
            return OpenReason.TARGET_CODEC;
        }
        if (batch.size() > target.maxBatchBytes()) {
            return OpenReason.TOO_LARGE;
        }
        return switch (mode) {
            case RECORDS -> OpenReason.RECORDS_MODE;
            case BATCHES -> null;
            case AUTO -> mergesSmall ? OpenReason.SMALL : null;
        };
    }

    /** Returns the codec for the records of an opened batch. */
    public int codecIdOfOpened(SourceBatch batch) {
        return target.openedCodecId() == TargetLimits.ANY_CODEC ? batch.codecId() : target.openedCodecId();
    }

    /** Returns why no producer could send the batch with this header, or null. */
    private static OpenReason reasonOfHeaderOrNull(SourceBatch batch, long position) {
        if (batch.isOldFormat()) {
            return OpenReason.OLD_FORMAT;
        }
        if (batch.count() == 0) {
            return OpenReason.EMPTY;
        }
        if (position > batch.baseOffset()) {
            return OpenReason.RESUME_INSIDE;
        }
        if (batch.hasUnknownAttributes()) {
            return OpenReason.UNKNOWN_ATTRIBUTES;
        }
        if (batch.hasDeleteHorizon()) {
            return OpenReason.DELETE_HORIZON;
        }
        if (batch.isLogAppendTime()) {
            return OpenReason.LOG_APPEND_TIME;
        }
        return batch.hasGaps() ? OpenReason.GAPS : null;
    }
}
