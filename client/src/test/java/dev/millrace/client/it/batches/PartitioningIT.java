package dev.millrace.client.it.batches;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.support.JudgedSends;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.TopicContents;
import dev.millrace.testkit.oracle.Stamp;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.clients.producer.RoundRobinPartitioner;
import org.apache.kafka.common.Cluster;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Where the brokers get records that do not name a partition. */
@Tag("thorough")
class PartitioningIT {
    private static final int VALUE_SIZE = 1000;

    @AutoClose
    private static KafkaCluster cluster;

    @BeforeAll
    static void start() {
        // A paused broker whose session ends leads nothing any more, and then no producer sends to it.
        cluster = KafkaCluster.builder()
                .brokers(3)
                .setting("broker.session.timeout.ms", "60000")
                .start();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldGiveAPausedBrokerASmallShareWhileTheOthersFlow(ProducerKind kind) throws Exception {
        // given
        String topic = topic("paused", kind, 6);
        int paused = cluster.leader(topic, 0);
        Flow flow;
        try (Producer<byte[], byte[]> producer =
                kind.create(cluster.clientConfig(), "batch.size", 4096, "buffer.memory", 64L << 20)) {
            flow = new Flow(producer, topic);
            flow.until(500);

            // when
            int[] whilePaused;
            cluster.pause(paused);
            try {
                whilePaused = flow.windows();
            } finally {
                cluster.resume(paused);
            }

            // then: less than half of its third of the partitions, once its queues are long. Not from the start: when
            // the
            // others are slow for a moment, their queues grow as well.
            producer.flush();
            assertThat(flow.sharesOf(paused, whilePaused)).anyMatch(share -> share < 0.15);
        }
        flow.sends.assertAllThere(cluster.clientConfig());
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldGiveNothingToABrokerThatTakesNothingForLongerThanTheAvailabilityTimeout(ProducerKind kind)
            throws Exception {
        // given
        String topic = topic("unavailable", kind, 6);
        int paused = cluster.leader(topic, 0);
        Flow flow;
        try (Producer<byte[], byte[]> producer = kind.create(
                cluster.clientConfig(),
                "batch.size",
                4096,
                "buffer.memory",
                64L << 20,
                "partitioner.availability.timeout.ms",
                100)) {
            flow = new Flow(producer, topic);
            flow.until(500);

            // when
            int[] whilePaused;
            cluster.pause(paused);
            try {
                whilePaused = flow.windows();
            } finally {
                cluster.resume(paused);
            }
            int[] resumed = flow.windows();

            // then: only after the timeout, and only while another broker answers
            producer.flush();
            assertThat(flow.sharesOf(paused, whilePaused)).contains(0.0);
            assertThat(flow.sharesOf(paused, resumed)).anyMatch(share -> share > 0.15);
        }
        flow.sends.assertAllThere(cluster.clientConfig());
    }

    @Test
    void shouldSpreadBytesEvenlyWhenManyThreadsSendRecordsOfAllSizes() throws Exception {
        // given
        String topic = topic("even", ProducerKind.MILLRACE, 7);
        long seed = Long.getLong("millrace.seed", System.nanoTime());
        System.out.println("PartitioningIT seed " + seed);

        // when
        JudgedSends sends;
        try (Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(
                cluster.clientConfig(), "partitioner.adaptive.partitioning.enable", false, "batch.size", 4096)) {
            sends = new JudgedSends(producer, topic);
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 8; t++) {
                int number = t;
                Random random = new Random(seed + t);
                threads.add(new Thread(() -> {
                    for (int i = 0; i < 4_000; i++) {
                        sends.send(number, null, null, random.nextInt(2_000), (metadata, error) -> {});
                    }
                }));
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
        }

        // then
        long[] bytes = new long[7];
        sends.assertAllThere(cluster.clientConfig());
        TopicContents.read(cluster.clientConfig(), topic)
                .forEach(record -> bytes[record.partition()] += record.serializedValueSize());
        long expected = Arrays.stream(bytes).sum() / 7;
        for (long found : bytes) { // 1,100 turns each; by chance they differ by at most 8 %
            assertThat(found)
                    .as("seed %d: %s", seed, Arrays.toString(bytes))
                    .isBetween(expected * 95 / 100, expected * 105 / 100);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldSpreadOneKeyWhenKeysAreIgnored(ProducerKind kind) throws Exception {
        String topic = topic("ignored-keys", kind, 3);
        JudgedSends sends;
        try (Producer<byte[], byte[]> producer =
                kind.create(cluster.clientConfig(), "partitioner.ignore.keys", true, "batch.size", 1000)) {
            sends = new JudgedSends(producer, topic);
            // Enough for 200 turns. With 300 records the stock producer makes 20, and in 1 run of 1,000 two partitions
            // get them all.
            for (int i = 0; i < 3_000; i++) {
                sends.send(0, null, new byte[] {1}, 100, (metadata, error) -> {});
            }
        }

        sends.assertAllThere(cluster.clientConfig());
        assertThat(recordsPerPartition(topic, 3)).doesNotContain(0);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldEndWhenBatchesAreOff(ProducerKind kind) throws Exception {
        String topic = topic("no-batches", kind, 3);
        JudgedSends sends;
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "batch.size", 0)) {
            sends = new JudgedSends(producer, topic);
            for (int i = 0; i < 300; i++) {
                sends.send(100);
            }
        }

        sends.assertAllThere(cluster.clientConfig());
        assertThat(recordsPerPartition(topic, 3)).doesNotContain(0);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldGiveEachPartitionAsManyRecordsWhenPartitionedRoundRobin(ProducerKind kind) throws Exception {
        String topic = topic("round-robin", kind, 3);
        JudgedSends sends;
        try (Producer<byte[], byte[]> producer = kind.create(
                cluster.clientConfig(), "partitioner.class", RoundRobinPartitioner.class, "batch.size", 500)) {
            sends = new JudgedSends(producer, topic);
            for (int i = 0; i < 300; i++) {
                sends.send(100);
            }
        }

        sends.assertAllThere(cluster.clientConfig());
        assertThat(recordsPerPartition(topic, 3)).containsExactly(100, 100, 100);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldConfigureACustomPartitionerAskItOnceARecordAndCloseIt(ProducerKind kind) throws Exception {
        // given
        String topic = topic("custom", kind, 3);
        String name = kind.name();
        JudgedSends sends;

        // when batches fill often: for a record that finds a batch full the partitioner must not be called again
        // (KAFKA-17632)
        try (Producer<byte[], byte[]> producer = kind.create(
                cluster.clientConfig(), "partitioner.class", ByValue.class, "test.name", name, "batch.size", 300)) {
            sends = new JudgedSends(producer, topic);
            for (int i = 0; i < 300; i++) {
                sends.send(0, null, new byte[] {1}, 100, (metadata, error) -> {});
            }
            sends.send(0, 2, null, 100, (metadata, error) -> {});
        }

        // then
        ByValue used = ByValue.USED.get(name);
        assertThat(used.asked).hasValue(300);
        assertThat(used.closed).hasValue(1);
        assertThat(used.refused).hasNullValue();
        sends.assertAllThere(cluster.clientConfig());
        List<ConsumerRecord<byte[], byte[]>> chosen = TopicContents.read(cluster.clientConfig(), topic).stream()
                .filter(read -> read.key() != null)
                .toList();
        assertThat(chosen).hasSize(300).allMatch(read -> read.partition() == ByValue.partitionOf(read.value()));
    }

    private static String topic(String name, ProducerKind kind, int partitions) {
        String topic = name + "-" + kind.name().toLowerCase(Locale.ROOT);
        cluster.createServedTopic(topic, partitions, 1, Map.of()); // tests ask who leads before they send
        return topic;
    }

    private static int[] recordsPerPartition(String topic, int partitions) {
        int[] counts = new int[partitions];
        TopicContents.read(cluster.clientConfig(), topic).forEach(record -> counts[record.partition()]++);
        return counts;
    }

    /** Sends records steadily, as fast as the running brokers take them. */
    private static final class Flow {
        private static final int MAX_UNACKNOWLEDGED = 3_000;

        private final String topic;
        private final AtomicInteger acknowledged = new AtomicInteger();
        private final AtomicReference<Exception> failure = new AtomicReference<>();
        final JudgedSends sends;
        final List<Future<RecordMetadata>> sent = new ArrayList<>();

        Flow(Producer<byte[], byte[]> producer, String topic) {
            this.topic = topic;
            sends = new JudgedSends(producer, topic);
        }

        /** Sends until so many more records are acknowledged. */
        void until(int more) {
            int goal = acknowledged.get() + more;
            long deadline = System.nanoTime() + 60_000_000_000L;
            while (acknowledged.get() < goal) {
                assertThat(System.nanoTime()).as("the flow stands still").isLessThan(deadline);
                for (int i = 0; i < 5 && sent.size() - acknowledged.get() < MAX_UNACKNOWLEDGED; i++) {
                    sent.add(sends.send(0, null, null, VALUE_SIZE, (metadata, e) -> {
                        if (e == null) {
                            acknowledged.incrementAndGet();
                        } else {
                            failure.set(e);
                        }
                    }));
                }
                LockSupport.parkNanos(1_000_000);
            }
        }

        /** Sends in some windows of time, and returns the number of records sent before each window begins and ends. */
        int[] windows() {
            int[] bounds = new int[6];
            bounds[0] = sent.size();
            for (int i = 1; i < bounds.length; i++) {
                until(2_000);
                bounds[i] = sent.size();
            }
            return bounds;
        }

        /** One value for each window. */
        List<Double> sharesOf(int broker, int[] windows) throws Exception {
            List<Double> shares = new ArrayList<>();
            for (int i = 1; i < windows.length; i++) {
                shares.add(shareOf(broker, windows[i - 1], windows[i]));
            }
            return shares;
        }

        /** Counts the records from the {@code from}-th to before the {@code to}-th. */
        double shareOf(int broker, int from, int to) throws Exception {
            assertThat(failure.get()).isNull();
            int[] leaders =
                    IntStream.range(0, 6).map(p -> cluster.leader(topic, p)).toArray();
            int theirs = 0;
            for (Future<RecordMetadata> future : sent.subList(from, to)) {
                theirs += leaders[future.get().partition()] == broker ? 1 : 0;
            }
            return (double) theirs / (to - from);
        }
    }

    /** Takes the partition from the number in the value. */
    public static final class ByValue implements Partitioner {
        static final Map<String, ByValue> USED = new ConcurrentHashMap<>();

        final AtomicInteger asked = new AtomicInteger();
        final AtomicInteger closed = new AtomicInteger();
        final AtomicReference<String> refused = new AtomicReference<>();

        @Override
        public void configure(Map<String, ?> configs) {
            USED.put((String) configs.get("test.name"), this);
        }

        @Override
        public int partition(String topic, Object key, byte[] keyBytes, Object value, byte[] valueBytes, Cluster seen) {
            asked.incrementAndGet();
            if (seen.partitionCountForTopic(topic) != 3
                    || seen.availablePartitionsForTopic(topic).size() != 3) {
                refused.set("it was shown " + seen);
            }
            return partitionOf(valueBytes);
        }

        static int partitionOf(byte[] value) {
            return (int) Stamp.decode(value).sequence() % 3;
        }

        @Override
        public void close() {
            closed.incrementAndGet();
        }
    }
}
