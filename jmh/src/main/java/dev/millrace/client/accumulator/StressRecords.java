package dev.millrace.client.accumulator;

import dev.millrace.client.raw.BatchLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The records of the stress tests, called a, b and c. The value of a record is its letter repeated, so that a test sees
 * which record it finds in a batch and whether all its bytes are there.
 */
final class StressRecords {
    static final int RECORD_SIZE = 39;

    private static final int VALUE_SIZE = 32;
    private static final int OFFSET_DELTA_AT = 3;
    private static final int VALUE_AT = 6;
    private static final int CRC_AT = 17;
    private static final int ATTRIBUTES_AT = 21;
    private static final int MAX_TIMESTAMP_AT = 35;
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final EncodableRecord[] RECORDS = {record('a'), record('b'), record('c')};

    private StressRecords() {}

    /** The record of a letter. A later letter has a later timestamp. */
    static EncodableRecord of(char letter) {
        return RECORDS[letter - 'a'];
    }

    private static EncodableRecord record(char letter) {
        byte[] value = new byte[VALUE_SIZE];
        Arrays.fill(value, (byte) letter);
        return new EncodableRecord(timestamp(letter), null, value, RecordEncoder.NO_HEADERS);
    }

    private static long timestamp(char letter) {
        return (long) letter - 'a';
    }

    /** Reads a batch: returns its letters in offset order, or what is wrong with it. */
    static String describe(FinishedBatch batch) {
        if (batch.isUnwritable()) {
            return "failed: " + batch.failure();
        }
        if (batch.size() != BatchLayout.HEADER_SIZE + batch.count() * RECORD_SIZE) {
            return batch.count() + " records in " + batch.size() + " bytes";
        }
        StringBuilder letters = new StringBuilder();
        long maxTimestamp = 0;
        for (int i = 0; i < batch.count(); i++) {
            int at = BatchLayout.HEADER_SIZE + i * RECORD_SIZE;
            if (batch.buffer()[at + OFFSET_DELTA_AT] != 2 * i || !isWhole(batch.buffer(), at)) {
                return "torn record " + i;
            }
            char letter = (char) batch.buffer()[at + VALUE_AT];
            letters.append(letter);
            maxTimestamp = Math.max(maxTimestamp, timestamp(letter));
        }
        if ((long) LONG.get(batch.buffer(), MAX_TIMESTAMP_AT) != maxTimestamp) {
            return "wrong timestamp";
        }
        batch.stamp(1, (short) 0, 0);
        int checksum = Crc32c.of(batch.buffer(), ATTRIBUTES_AT, batch.size());
        return checksum == (int) INT.get(batch.buffer(), CRC_AT) ? letters.toString() : "wrong checksum";
    }

    private static boolean isWhole(byte[] buffer, int at) {
        for (int i = 1; i < VALUE_SIZE; i++) {
            if (buffer[at + VALUE_AT + i] != buffer[at + VALUE_AT]) {
                return false;
            }
        }
        return true;
    }
}
