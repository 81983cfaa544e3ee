package dev.millrace.client.accumulator;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * A whole batch that was made elsewhere, in memory of the pool, before it has its place in a {@link PartitionQueue}.
 *
 * @param count its records
 * @param codec the one that its records are compressed with, and those of its parts if it is split
 * @param passedMs when it was passed, on the monotonic clock
 */
record PassedBatch(BatchBytes bytes, int count, BatchCodec codec, long passedMs) {
    /**
     * Copies the batch into the buffer, and makes the header ours.
     *
     * @param codecs by their numbers in the attributes of a batch
     * @throws IllegalArgumentException the batch cannot be passed on as it is
     */
    static PassedBatch copy(ByteBuffer batch, byte[] buffer, List<? extends BatchCodec> codecs, long nowMs) {
        int size = batch.remaining();
        batch.get(batch.position(), buffer, 0, size);
        BatchHeader.throwIfNotPassable(buffer, size);
        int codec = BatchHeader.codecId(buffer);
        if (codec >= codecs.size()) {
            throw new IllegalArgumentException("This batch cannot be passed on: its codec is " + codec
                    + ", and those known are 0 to " + (codecs.size() - 1));
        }
        return new PassedBatch(BatchBytes.ofPassed(buffer, size), BatchHeader.count(buffer), codecs.get(codec), nowMs);
    }
}
