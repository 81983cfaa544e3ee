package dev.millrace.mirror.pass;

/**
 * What the target takes as it is.
 *
 * @param codecId the one codec that batches are to have, or {@link #ANY_CODEC}
 * @param maxBatchBytes the largest batch, header included: of the topic, and of what the producer sends at once
 * @param openedCodecId what the records of opened batches are compressed with; {@link #ANY_CODEC}: as at the source
 */
public record TargetLimits(int codecId, int maxBatchBytes, int openedCodecId) {
    public static final int ANY_CODEC = -1;

    /** Opened batches get the codec that all are to have, or that of the source. */
    public TargetLimits(int codecId, int maxBatchBytes) {
        this(codecId, maxBatchBytes, codecId);
    }

    boolean isCodec(int batchCodecId) {
        return codecId == ANY_CODEC || codecId == batchCodecId;
    }
}
