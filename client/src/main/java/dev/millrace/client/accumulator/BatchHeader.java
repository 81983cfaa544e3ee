package dev.millrace.client.accumulator;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The 61 bytes before the records of a v2 batch (KIP-98). The thread that finishes the batch writes the fields that
 * depend on its records; the I/O thread writes producer, sequence and checksum when it drains the batch.
 */
final class BatchHeader {
    static final int SIZE = 61;

    private static final int LENGTH_AT = 8;
    private static final int LEADER_EPOCH_AT = 12;
    private static final int MAGIC_AT = 16;
    private static final int CRC_AT = 17;
    private static final int ATTRIBUTES_AT = 21;
    private static final int LAST_OFFSET_DELTA_AT = 23;
    private static final int BASE_TIMESTAMP_AT = 27;
    private static final int MAX_TIMESTAMP_AT = 35;
    private static final int PRODUCER_ID_AT = 43;
    private static final int PRODUCER_EPOCH_AT = 51;
    private static final int BASE_SEQUENCE_AT = 53;
    private static final int COUNT_AT = 57;

    private static final byte MAGIC_V2 = 2;
    private static final int CODEC_MASK = 7;
    private static final int TRANSACTIONAL = 1 << 4;
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

    static int codecId(byte[] batch) {
        return (short) SHORT.get(batch, ATTRIBUTES_AT) & CODEC_MASK;
    }

    static long baseTimestamp(byte[] batch) {
        return (long) LONG.get(batch, BASE_TIMESTAMP_AT);
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
        int header = Crc32c.of(batch, ATTRIBUTES_AT, SIZE);
        INT.set(batch, CRC_AT, Crc32c.join(header, payloadChecksum, payloadLength));
    }
}
