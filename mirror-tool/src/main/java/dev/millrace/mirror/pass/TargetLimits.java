package dev.millrace.mirror.pass;

/**
 * Which batches the target accepts unchanged.
 *
 * @param codecId the one codec that batches must have, or {@link #ANY_CODEC}
 * @param maxBatchBytes the largest batch, header included, that both the topic and the producer allow
 * @param openedCodecId the codec for the records of opened batches; {@link #ANY_CODEC} keeps that of the source
 */
public record TargetLimits(int codecId, int maxBatchBytes, int openedCodecId) {
    public static final int ANY_CODEC = -1;

    /** Opened batches get the required codec of all batches, or that of the source. */
    public TargetLimits(int codecId, int maxBatchBytes) {
        this(codecId, maxBatchBytes, codecId);
    }

    boolean isCodec(int batchCodecId) {
        return codecId == ANY_CODEC || codecId == batchCodecId;
    }
}
