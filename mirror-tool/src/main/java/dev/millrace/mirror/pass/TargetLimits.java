package dev.millrace.mirror.pass;

/**
 * What the target takes as it is.
 *
 * @param codecId the one codec that batches are to have, or {@link #ANY_CODEC}
 * @param maxBatchBytes the largest batch, header included: of the topic, and of what the producer sends at once
 */
public record TargetLimits(int codecId, int maxBatchBytes) {
    public static final int ANY_CODEC = -1;

    boolean isCodec(int batchCodecId) {
        return codecId == ANY_CODEC || codecId == batchCodecId;
    }
}
