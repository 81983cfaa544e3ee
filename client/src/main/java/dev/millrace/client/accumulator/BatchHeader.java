package dev.millrace.client.accumulator;

import static dev.millrace.client.raw.BatchLayout.*;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The 61 bytes before the records of a v2 batch (KIP-98). The thread that finishes the batch writes the fields that
 * depend on its records; the I/O thread writes producer, sequence and checksum when it drains the batch.
 */
final class BatchHeader {
    private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private BatchHeader() {}

    static void writeContent(byte[] batch, int end, int count, long baseTimestamp, long maxTimestamp, int codecId) {
        LONG.set(batch, 0, 0L); // base offset: set by the broker
        INT.set(batch, LENGTH_AT, end - LEADER_EPOCH_AT);
        INT.set(batch, LEADER_EPOCH_AT, -1);
        batch[MAGIC_AT] = MAGIC_V2;
        SHORT.set(batch, ATTRIBUTES_AT, (short) codecId);
        INT.set(batch, LAST_OFFSET_DELTA_AT, count - 1);
        LONG.set(batch, BASE_TIMESTAMP_AT, baseTimestamp);
        LONG.set(batch, MAX_TIMESTAMP_AT, maxTimestamp);
        INT.set(batch, COUNT_AT, count);
    }

    /**
     * Checks that the first {@code size} bytes are one batch that can be passed on unchanged.
     *
     * @throws IllegalArgumentException it cannot; the message says why
     */
    static void throwIfNotPassable(byte[] batch, int size) {
        if (size <= MAGIC_AT || batch[MAGIC_AT] != MAGIC_V2) {
            String found = size <= MAGIC_AT ? "only " + size + " bytes" : "format " + batch[MAGIC_AT];
            throw notPassable("a batch of format " + MAGIC_V2 + " is needed, not " + found);
        }
        if (size < HEADER_SIZE || (int) INT.get(batch, LENGTH_AT) != size - LEADER_EPOCH_AT) {
            long length = (long) (int) INT.get(batch, LENGTH_AT) + LEADER_EPOCH_AT;
            throw notPassable("it has " + length + " bytes by its header, at least " + HEADER_SIZE + " are needed, and "
                    + size + " were given");
        }
        int count = count(batch);
        int lastOffsetDelta = (int) INT.get(batch, LAST_OFFSET_DELTA_AT);
        if (count <= 0 || lastOffsetDelta != count - 1) {
            throw notPassable("its offsets end at " + lastOffsetDelta + " and it has " + count
                    + " records; there must be at least one, and no gap");
        }
        int attributes = (short) SHORT.get(batch, ATTRIBUTES_AT);
        if ((attributes & ~(CODEC_MASK | TRANSACTIONAL)) != 0) {
            throw notPassable(unwanted(attributes) + "; only a codec and the transactional bit may be set in its"
                    + " attributes");
        }
    }

    private static String unwanted(int attributes) {
        if ((attributes & CONTROL) != 0) {
            return "it is a control batch";
        }
        if ((attributes & LOG_APPEND_TIME) != 0) {
            return "its timestamp is the broker's (LogAppendTime)";
        }
        return (attributes & DELETE_HORIZON) != 0
                ? "it has a delete horizon"
                : "its attributes are " + Integer.toHexString(attributes & 0xffff);
    }

    private static IllegalArgumentException notPassable(String why) {
        return new IllegalArgumentException("This batch cannot be passed on: " + why);
    }

    /**
     * Clears fields that belong to a batch's former log. Producer and checksum are written when it is sent.
     *
     * @return the checksum of the records, derived from the batch's; wrong if anything in the batch is corrupt, so that
     *     the batch's new checksum will be wrong too
     */
    static int adopt(byte[] batch, int size) {
        int header = Crc32c.of(batch, ATTRIBUTES_AT, HEADER_SIZE);
        int records = Crc32c.second(header, (int) INT.get(batch, CRC_AT), size - HEADER_SIZE);
        LONG.set(batch, 0, 0L); // base offset: set by the broker
        INT.set(batch, LEADER_EPOCH_AT, -1);
        SHORT.set(batch, ATTRIBUTES_AT, (short) codecId(batch));
        return records;
    }

    static int codecId(byte[] batch) {
        return (short) SHORT.get(batch, ATTRIBUTES_AT) & CODEC_MASK;
    }

    static int count(byte[] batch) {
        return (int) INT.get(batch, COUNT_AT);
    }

    static long baseTimestamp(byte[] batch) {
        return (long) LONG.get(batch, BASE_TIMESTAMP_AT);
    }

    static long maxTimestamp(byte[] batch) {
        return (long) LONG.get(batch, MAX_TIMESTAMP_AT);
    }

    static void writeProducer(byte[] batch, long producerId, short producerEpoch, int baseSequence) {
        LONG.set(batch, PRODUCER_ID_AT, producerId);
        SHORT.set(batch, PRODUCER_EPOCH_AT, producerEpoch);
        INT.set(batch, BASE_SEQUENCE_AT, baseSequence);
    }

    static void setTransactional(byte[] batch) {
        SHORT.set(batch, ATTRIBUTES_AT, (short) ((short) SHORT.get(batch, ATTRIBUTES_AT) | TRANSACTIONAL));
    }

    /** The checksum covers everything after itself. */
    static void writeChecksum(byte[] batch, int payloadChecksum, int payloadLength) {
        int header = Crc32c.of(batch, ATTRIBUTES_AT, HEADER_SIZE);
        INT.set(batch, CRC_AT, Crc32c.join(header, payloadChecksum, payloadLength));
    }
}
