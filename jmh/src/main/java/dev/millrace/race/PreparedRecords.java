package dev.millrace.race;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * The records that each thread sends again and again. They are made before the race, so that it measures the producer
 * and not the making of records. All threads together have {@value #COUNT} (more if they are compressed), whatever the
 * number of threads, so that the load on the CPU caches is the same. That is enough that no value occurs twice in a
 * batch of 64 KiB, where a compressor would find it. If values are so large that this would fill the heap, several
 * records share one. Half of a value is random.
 */
final class PreparedRecords {
    private static final int COUNT = 4_096;
    private static final int COUNT_TO_COMPRESS = 32_768;
    private static final int MAX_BYTES = 64 << 20;
    private static final int KEY_BYTES = 16;

    private final List<List<ProducerRecord<byte[], byte[]>>> byThread = new ArrayList<>();

    PreparedRecords(RacerArguments arguments) {
        String topic = arguments.text("topic");
        int partitions = arguments.integer("partitions");
        int threads = arguments.integer("threads");
        int step = arguments.integer("step");
        int size = arguments.integer("size");
        PartitionChoice choice =
                PartitionChoice.valueOf(arguments.text("partition_choice").toUpperCase(Locale.ROOT));
        boolean compressed =
                !arguments.config().getOrDefault("compression.type", "none").equals("none");
        int count = compressed ? COUNT_TO_COMPRESS : COUNT;
        int rounds = Math.max(1, count / threads / partitions);
        byte[][] values = values(rounds * partitions * threads, size);
        int made = 0;
        for (int thread = 0; thread < threads; thread++) {
            SplittableRandom random = new SplittableRandom(thread);
            List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
            for (int i = 0; i < rounds * partitions; i++) {
                // Each thread starts at another partition; the step is the same for all.
                Integer partition =
                        choice == PartitionChoice.PARTITION ? Integer.valueOf((thread + i * step) % partitions) : null;
                byte[] key = choice == PartitionChoice.KEY ? bytes(random, KEY_BYTES, KEY_BYTES) : null;
                records.add(new ProducerRecord<>(topic, partition, key, values[made++ % values.length]));
            }
            byThread.add(records);
        }
    }

    /** How the partition of a record is chosen. */
    enum PartitionChoice {
        PARTITION,
        KEY,
        STICKY
    }

    /** The records of one thread, to be sent in turn, again and again. */
    List<ProducerRecord<byte[], byte[]>> forThread(int thread) {
        return byThread.get(thread);
    }

    private static byte[][] values(int records, int size) {
        SplittableRandom random = new SplittableRandom(0);
        byte[][] values = new byte[Math.max(1, Math.min(records, MAX_BYTES / Math.max(1, size)))][];
        Arrays.setAll(values, i -> bytes(random, size, size / 2));
        return values;
    }

    private static byte[] bytes(SplittableRandom random, int size, int randomBytes) {
        byte[] head = new byte[randomBytes];
        random.nextBytes(head);
        byte[] bytes = new byte[size];
        Arrays.fill(bytes, (byte) 'm');
        System.arraycopy(head, 0, bytes, 0, randomBytes);
        return bytes;
    }
}
