package dev.millrace.client.accumulator;

import dev.millrace.client.memory.BufferPool;
import dev.millrace.client.raw.BatchLayout;
import java.util.Arrays;

/**
 * The bytes of a finished batch, and how much of {@code buffer.memory} they hold.
 *
 * <p><b>Threads:</b> as {@link FinishedBatch}.
 */
final class BatchBytes {
    /** The bytes; null once the memory was returned, or taken over by the parts of the batch. */
    private byte[] buffer;

    /** Bytes of {@code buffer.memory} that are given back with this batch. */
    private int reserved;

    private int size;
    private int uncompressedSize;
    private int payloadChecksum;
    private long maxTimestamp;
    private int sequence = FinishedBatch.NO_SEQUENCE;

    BatchBytes(byte[] buffer, int reserved) {
        this.buffer = buffer;
        this.reserved = reserved;
    }

    /** Creates the bytes of a batch made elsewhere, its first {@code size} bytes here, and adapts its header. */
    static BatchBytes ofPassed(byte[] buffer, int size) {
        BatchBytes bytes = new BatchBytes(buffer, buffer.length);
        bytes.size = size;
        bytes.uncompressedSize = size;
        bytes.payloadChecksum = BatchHeader.adopt(buffer, size);
        bytes.maxTimestamp = BatchHeader.maxTimestamp(buffer);
        return bytes;
    }

    /** Whether the records match their checksum. Records that were encoded here do. */
    boolean isPayloadIntact() {
        return Crc32c.of(buffer, BatchLayout.HEADER_SIZE, size) == payloadChecksum;
    }

    /** Compresses the records up to {@code end} and writes the header, except producer id, sequence and checksum. */
    void encode(BatchCodec codec, int end, int records, long baseTimestamp, long newestTimestamp) {
        int compressedEnd = codec.compress(buffer, BatchLayout.HEADER_SIZE, end);
        boolean gained = compressedEnd != BatchCodec.NO_GAIN;
        int finalEnd = gained ? compressedEnd : end;
        int codecId = gained ? codec.id() : BatchCodec.NONE.id();
        BatchHeader.writeContent(buffer, finalEnd, records, baseTimestamp, newestTimestamp, codecId);
        maxTimestamp = newestTimestamp;
        uncompressedSize = end;
        size = finalEnd;
        payloadChecksum = Crc32c.of(buffer, BatchLayout.HEADER_SIZE, finalEnd);
    }

    /** Gives back memory that the batch turned out not to need. */
    void trim(BufferPool pool) {
        buffer = pool.trim(buffer, size);
        reserved = buffer.length;
    }

    void setTransactional() {
        BatchHeader.setTransactional(buffer);
    }

    void stamp(long producerId, short producerEpoch, int baseSequence) {
        sequence = baseSequence;
        BatchHeader.writeProducer(buffer, producerId, producerEpoch, baseSequence);
        BatchHeader.writeChecksum(buffer, payloadChecksum, size - BatchLayout.HEADER_SIZE);
    }

    byte[] buffer() {
        return buffer;
    }

    int size() {
        return size;
    }

    double compressionRatio() {
        return (double) (size - BatchLayout.HEADER_SIZE) / (uncompressedSize - BatchLayout.HEADER_SIZE);
    }

    int sequence() {
        return sequence;
    }

    long maxTimestamp() {
        return maxTimestamp;
    }

    int reserved() {
        return reserved;
    }

    /** Drops the room that compression left unused, and takes over {@code share} of the whole batch's memory. */
    void shrink(int share) {
        buffer = Arrays.copyOf(buffer, size);
        reserved = share;
    }

    /** The parts of the batch have taken over its memory. */
    void onSplit() {
        buffer = null;
    }

    /** Gives the memory back; later calls do nothing. */
    void release(BufferPool pool) {
        if (buffer != null) {
            byte[] free = buffer;
            buffer = null;
            pool.release(free, reserved);
        }
    }
}
