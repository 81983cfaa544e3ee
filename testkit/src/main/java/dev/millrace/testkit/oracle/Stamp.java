package dev.millrace.testkit.oracle;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Tells who sent a record, where to, and in which order. It is written into the record's value, so that an oracle that
 * reads the topic knows what became of the record.
 *
 * @param run distinguishes runs that use the same topic
 * @param thread the sending thread
 * @param topic where the record was sent to
 * @param partition where the record was sent to, or −1 if the partitioner chose
 * @param sequence from 0 to 2^31 − 2, rising in the order of sending, per thread or per thread and partition
 */
public record Stamp(long run, int thread, String topic, int partition, long sequence) {
    private static final int CHECKSUM_BYTES = Integer.BYTES;
    private static final int FIXED_BYTES = CHECKSUM_BYTES + Long.BYTES + 2 * Integer.BYTES + Long.BYTES + Short.BYTES;

    /** @throws IllegalArgumentException if the partition or the sequence is out of range */
    public Stamp {
        if (partition < -1) {
            throw new IllegalArgumentException("partition is " + partition + ", must be -1 or more");
        }
        if (sequence < 0 || sequence >= Integer.MAX_VALUE) {
            throw new IllegalArgumentException("sequence is " + sequence + ", must be from 0 to 2147483646");
        }
    }

    /** The stamp as a value of {@code size} bytes, filled up with zeros; longer if the stamp itself is longer. */
    public byte[] encode(int size) {
        byte[] topicBytes = topic.getBytes(StandardCharsets.UTF_8);
        byte[] value = new byte[Math.max(size, FIXED_BYTES + topicBytes.length)];
        ByteBuffer.wrap(value)
                .position(CHECKSUM_BYTES)
                .putLong(run)
                .putInt(thread)
                .putInt(partition)
                .putLong(sequence)
                .putShort((short) topicBytes.length)
                .put(topicBytes)
                .putInt(0, checksum(value));
        return value;
    }

    /**
     * Reads a value that {@link #encode} made.
     *
     * @throws IllegalArgumentException if it is null or too short, or any byte of it has changed
     */
    public static Stamp decode(byte[] value) {
        if (value == null || value.length < FIXED_BYTES) {
            throw new IllegalArgumentException("Not a stamp: "
                    + (value == null ? "null" : value.length + " bytes, a stamp has at least " + FIXED_BYTES));
        }
        ByteBuffer in = ByteBuffer.wrap(value);
        int expected = in.getInt();
        int actual = checksum(value);
        if (actual != expected) {
            throw new IllegalArgumentException(
                    "Not a stamp: checksum " + expected + " inside, but " + actual + " of " + start(value));
        }
        long run = in.getLong();
        int thread = in.getInt();
        int partition = in.getInt();
        long sequence = in.getLong();
        String topic = new String(value, FIXED_BYTES, in.getShort(), StandardCharsets.UTF_8);
        return new Stamp(run, thread, topic, partition, sequence);
    }

    private static int checksum(byte[] value) {
        CRC32C crc = new CRC32C();
        crc.update(value, CHECKSUM_BYTES, value.length - CHECKSUM_BYTES);
        return (int) crc.getValue();
    }

    private static String start(byte[] value) {
        return Arrays.toString(Arrays.copyOf(value, Math.min(value.length, 16)));
    }
}
