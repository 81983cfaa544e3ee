package dev.millrace.mirror.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Makes the records that tests write to a source: of about 100 bytes, with and without keys, values and headers, their
 * timestamps out of order. No two have the same timestamp: if two records were equal in everything, a test could not
 * tell which of them a copy belongs to, and a record that was copied twice would seem reordered.
 */
final class SourceRecords {
    /** Under three hours, because the broker soon deletes records of another year. A prime number, for the steps. */
    private static final long SPREAD_MS = 10_000_019;

    /** Steps of this length, modulo {@link #SPREAD_MS}, reach every millisecond once before they repeat one. */
    private static final long STEP_MS = 6_180_339;

    private final long newestMs = System.currentTimeMillis();
    private long made;

    /**
     * Makes records for the partitions in turn. The same seed gives the same records, except for the timestamps.
     *
     * @param age of the newest of them
     */
    List<ProducerRecord<byte[], byte[]>> make(String topic, int partitions, int count, long seed, Duration age) {
        Random random = new Random(seed);
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            byte[] key = random.nextInt(3) == 0 ? null : bytes(random, 10);
            byte[] value = random.nextInt(10) == 0 ? null : bytes(random, 100);
            ProducerRecord<byte[], byte[]> record =
                    new ProducerRecord<>(topic, i % partitions, nextTimestamp() - age.toMillis(), key, value);
            for (int headers = random.nextInt(3); headers > 0; headers--) {
                record.headers().add("h" + random.nextInt(2), random.nextBoolean() ? bytes(random, 5) : null);
            }
            records.add(record);
        }
        return records;
    }

    private long nextTimestamp() {
        if (made == SPREAD_MS) {
            throw new IllegalStateException("Timestamps are used up after " + made + " records; make SPREAD_MS larger");
        }
        return newestMs - made++ * STEP_MS % SPREAD_MS;
    }

    private static byte[] bytes(Random random, int most) {
        byte[] bytes = new byte[random.nextInt(most + 1)];
        random.nextBytes(bytes);
        return bytes;
    }
}
