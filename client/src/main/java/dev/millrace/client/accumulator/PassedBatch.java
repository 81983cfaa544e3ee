package dev.millrace.client.accumulator;

import dev.millrace.client.raw.BatchLayout;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A whole batch that was made elsewhere, in memory of the pool, before it is linked into a {@link PartitionQueue}.
 *
 * @param count number of its records
 * @param codec the codec of its records, and of its parts if it is split
 * @param passedMs when it was passed, on the monotonic clock
 */
record PassedBatch(BatchBytes bytes, int count, BatchCodec codec, long passedMs) {
    private static final int NO_PRODUCER = -1;

    /**
     * Returns a whole batch of one record, whose key, value and headers are encoded in {@code source}; to be passed.
     */
    static ByteBuffer ofRecord(BatchCodec codec, long timestamp, byte[] source, int offset, int length) {
        byte[] buffer = new byte[RecordEncoder.batchSizeUpperBound(length)];
        int bodySize = (int) RecordEncoder.sizeWithoutOffsetDelta(0, length) + Varint.sizeOf(0);
        int content = RecordEncoder.writeStart(buffer, BatchLayout.HEADER_SIZE, bodySize, 0, 0);
        System.arraycopy(source, offset, buffer, content, length);
        BatchBytes bytes = new BatchBytes(buffer, 0);
        bytes.encode(codec, content + length, 1, timestamp, timestamp);
        bytes.stamp(NO_PRODUCER, (short) NO_PRODUCER, FinishedBatch.NO_SEQUENCE);
        return ByteBuffer.wrap(buffer, 0, bytes.size());
    }

    /**
     * Copies the batch into the buffer and adapts the header.
     *
     * @param codecs by their numbers in the attributes of a batch
     * @throws IllegalArgumentException the batch cannot be passed on unchanged
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
