package dev.millrace.client.partitioner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.client.accumulator.EncodableRecord;
import dev.millrace.client.accumulator.ReadyQueues;
import dev.millrace.client.memory.BufferPool;
import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.Replicas;
import dev.millrace.client.metadata.StalledBrokers;
import dev.millrace.client.metadata.TopicImage;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

class StickyPartitionsTest {
    private static final String TOPIC = "t";
    private static final Class<?> BYTES = ByteArraySerializer.class;
    private static final int TURN = 16_000;
    private static final int LINGER_MS = 5;

    private final AtomicLong clockMs = new AtomicLong(1_000_000);
    private final AtomicInteger clockReads = new AtomicInteger();
    private final ReadyQueues ready = ReadyQueues.forThreads(1);
    private final Accumulator accumulator = new Accumulator(
            new BufferPool(1 << 20, 100, ready::wake), ready, BatchCodec.NONE, this::readClock, LINGER_MS);
    private final StalledBrokers stalled = new StalledBrokers(1000);
    private final ClusterImages images =
            new ClusterImages(ClusterImage.bootstrap(List.of(InetSocketAddress.createUnresolved("localhost", 1))));

    private long readClock() {
        clockReads.incrementAndGet();
        return clockMs.get();
    }

    @Test
    void shouldSpreadBytesEvenlyWhenManyThreadsSendRecordsOfAllSizes() throws Exception {
        // given
        long seed = Long.getLong("millrace.seed", System.nanoTime());
        System.out.println("StickyPartitionsTest seed " + seed);
        int partitions = 12;
        ClusterImage image = image(leaders(partitions));
        StickyPartitions sticky = sticky(TURN, seed);
        AtomicLongArray bytes = new AtomicLongArray(partitions);

        // when
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 16; t++) {
            Random random = new Random(seed + t);
            threads.add(new Thread(() -> {
                for (int i = 0; i < 20_000; i++) {
                    int size = 20 + random.nextInt(2_000);
                    bytes.addAndGet(sticky.next(image, image.topic(TOPIC), size), size);
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }

        // then: in units of a turn, as if each were drawn by chance; chance exceeds 66 once in 10^9 runs
        double expected = 16 * 20_000 * 1_020.0 / partitions;
        double chiSquare = 0;
        for (int p = 0; p < partitions; p++) {
            double off = (bytes.get(p) - expected) / TURN;
            chiSquare += off * off / (expected / TURN);
        }
        assertThat(chiSquare).as("seed %d: %s", seed, bytes).isLessThan(66);
    }

    @Test
    void shouldGiveLessToAPartitionTheLongerItsQueueIs() throws Exception {
        // given queues of 9, 4 and no batches: weights 1, 6 and 10
        ClusterImage image = image(leaders(3));
        fillQueue(0, 9);
        fillQueue(1, 4);

        // when
        int[] turns = turns(sticky(1, 7), image, 1_700);

        // then
        assertThat(turns[0]).isCloseTo(100, within(10));
        assertThat(turns[1]).isCloseTo(600, within(10));
        assertThat(turns[2]).isCloseTo(1_000, within(10));
    }

    @Test
    void shouldSpreadEvenlyWhateverWaitsWhenItMustNotAdapt() throws Exception {
        ClusterImage image = image(leaders(3));
        fillQueue(0, 9);
        stalled.note(2, false, true, clockMs.get());
        clockMs.addAndGet(10_000);
        StickyPartitions sticky = new StickyPartitions(
                new PartitionLoad(accumulator, new StalledBrokers[] {stalled}, false, ""), 1, LINGER_MS, 7);

        int[] turns = turns(sticky, image, 3_000);

        for (int share : turns) {
            assertThat(share).isCloseTo(1_000, within(10));
        }
    }

    @Test
    void shouldPreferLeadersOfItsRackWhileThereIsOneToSendTo() {
        ClusterImage image = image(1, 2, 3, 2);
        StickyPartitions sticky = inRack("rack-2");

        int[] turns = turns(sticky, image, 1_000);
        stalled.note(2, false, true, clockMs.get());
        clockMs.addAndGet(10_000);
        int[] turnsWhileStalled = turns(inRack("rack-2"), image, 1_000);

        assertThat(turns[1] + turns[3]).isEqualTo(1_000);
        assertThat(turns[1]).isCloseTo(500, within(10));
        assertThat(turnsWhileStalled[0] + turnsWhileStalled[2]).isEqualTo(1_000);
    }

    @Test
    void shouldTakeAnyLeaderWhenNoneIsInItsRack() {
        int[] turns = turns(inRack("elsewhere"), image(leaders(3)), 3_000);

        for (int share : turns) {
            assertThat(share).isCloseTo(1_000, within(10));
        }
    }

    private StickyPartitions inRack(String rack) {
        return new StickyPartitions(
                new PartitionLoad(accumulator, new StalledBrokers[] {stalled}, true, rack), 1, LINGER_MS, 7);
    }

    /** Such a record is refused afterwards; those after it must still be spread. */
    @Test
    void shouldEndTheTurnWhenTheBytesOfARecordAreMoreThanAnIntCounts() {
        ClusterImage image = image(leaders(3));
        ProducerConfig config = new ProducerConfig(
                Map.of("bootstrap.servers", "localhost:1", "key.serializer", BYTES, "value.serializer", BYTES));
        PartitionChooser chooser = new PartitionChooser(
                config, null, new PartitionLoad(accumulator, new StalledBrokers[] {stalled}, false, ""));
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(TOPIC, new byte[20_000]);

        Set<Integer> chosen = new HashSet<>();
        chooser.choose(record, null, record.value(), Integer.MAX_VALUE, image, image.topic(TOPIC));
        for (int i = 0; i < 10; i++) {
            chosen.add(chooser.choose(record, null, record.value(), 1, image, image.topic(TOPIC)));
        }

        assertThat(chosen).containsExactlyInAnyOrder(0, 1, 2);
    }

    @Test
    void shouldAvoidABrokerThatTookNothingForLongerThanTheTimeoutUntilItTakesSomething() {
        // given
        ClusterImage image = image(1, 2, 3, 1, 2, 3);
        StickyPartitions sticky = sticky(1, 7);
        turns(sticky, image, 10);

        // when, then
        stalled.note(2, false, true, clockMs.get());
        clockMs.addAndGet(1000);
        turns(sticky, image, 10);
        assertThat(turns(sticky, image, 600)[1]).isPositive();

        clockMs.addAndGet(1);
        turns(sticky, image, 10);
        int[] without = turns(sticky, image, 600);
        assertThat(without[1] + without[4]).isZero();
        assertThat(without[0]).isCloseTo(150, within(10));

        stalled.note(2, true, false, clockMs.get());
        turns(sticky, image, 10);
        assertThat(turns(sticky, image, 600)[1]).isCloseTo(100, within(10));
    }

    @Test
    void shouldTakeEveryPartitionWhenAllBrokersAreStalled() {
        ClusterImage image = image(1, 2);
        stalled.note(1, false, true, 0);
        stalled.note(2, false, true, 0);

        assertThat(turns(sticky(1, 7), image, 100)).containsExactly(50, 50);
    }

    @Test
    void shouldTakeOnlyPartitionsWithALeaderIfThereAreAny() {
        int[] some = turns(sticky(1, 7), image(1, TopicImage.NO_LEADER, 99, 1), 100);
        int[] none = turns(sticky(1, 7), image(TopicImage.NO_LEADER, TopicImage.NO_LEADER), 100);

        assertThat(some).containsExactly(50, 0, 0, 50);
        assertThat(none).containsExactly(50, 50);
    }

    /** They have the ids −1, −2, …, and −1 also means that there is no leader. */
    @Test
    void shouldTakeAllPartitionsWhileNothingButBootstrapServersIsKnown() {
        StickyPartitions sticky = sticky(1, 7);
        turns(sticky, image(1, 2, TopicImage.NO_LEADER), 10);

        images.rebootstrap();

        assertThat(turns(sticky, images.current(), 90)).doesNotContain(0);
    }

    @Test
    void shouldFollowTheImageWhenPartitionsComeAndGo() {
        StickyPartitions sticky = sticky(1, 7);
        turns(sticky, image(leaders(8)), 50);

        assertThat(turns(sticky, image(leaders(2)), 50)).doesNotContain(0);
        assertThat(turns(sticky, image(leaders(20)), 100)).doesNotContain(0);
    }

    @Test
    void shouldLookAtTheBacklogOfAllPartitionsOnlyNowAndThen() {
        // given
        ClusterImage image = image(leaders(10_000));
        StickyPartitions sticky = sticky(1, 7);

        // when
        turns(sticky, image, 20_000);

        // then: the clock is read once a turn, and once whenever all partitions are looked at
        assertThat(clockReads.get() - 20_000).isBetween(1, 9);
    }

    @Test
    void shouldSpreadThreadsWhenBatchesFillBeforeTheyLinger() throws Exception {
        ClusterImage image = image(leaders(64));
        StickyPartitions sticky = sticky(100, 7);

        turns(sticky, image, 1000); // no time passes

        int stripes = Integer.highestOneBit(Runtime.getRuntime().availableProcessors() * 2 - 1);
        assertThat(partitionsOfManyThreads(sticky, image)).hasSize(Math.min(64, stripes));
    }

    @Test
    void shouldLetAllThreadsMeetWhenBatchesDoNotFill() throws Exception {
        ClusterImage image = image(leaders(64));
        StickyPartitions sticky = sticky(100, 7);
        turns(sticky, image, 1000);

        for (int turn = 0; turn < 20; turn++) {
            clockMs.addAndGet(LINGER_MS + 1);
            sticky.next(image, image.topic(TOPIC), 100);
        }
        clockMs.addAndGet(LINGER_MS + 1);

        assertThat(partitionsOfManyThreads(sticky, image)).hasSize(1);
    }

    /** Where 64 threads, one after the other, send a record that ends nobody's turn. */
    private static Set<Integer> partitionsOfManyThreads(StickyPartitions sticky, ClusterImage image)
            throws InterruptedException {
        Set<Integer> seen = new HashSet<>();
        for (int t = 0; t < 64; t++) {
            Thread thread = new Thread(() -> seen.add(sticky.next(image, image.topic(TOPIC), 0)));
            thread.start();
            thread.join();
        }
        return seen;
    }

    private StickyPartitions sticky(int bytesPerTurn, long firstTurn) {
        return new StickyPartitions(
                new PartitionLoad(accumulator, new StalledBrokers[] {stalled}, true, ""),
                bytesPerTurn,
                LINGER_MS,
                firstTurn);
    }

    private static int[] turns(StickyPartitions sticky, ClusterImage image, int turns) {
        int[] counts = new int[image.topic(TOPIC).partitions()];
        for (int i = 0; i < turns; i++) {
            counts[sticky.next(image, image.topic(TOPIC), TURN)]++;
        }
        return counts;
    }

    /** Batches of one record each. */
    private void fillQueue(int partition, int batches) throws InterruptedException {
        for (int i = 0; i < batches; i++) {
            EncodableRecord record = new EncodableRecord(0, null, new byte[100], new byte[] {0});
            accumulator.append(TOPIC, 0, partition, record, null, 0);
        }
    }

    private static int[] leaders(int partitions) {
        int[] leaders = new int[partitions];
        Arrays.setAll(leaders, p -> 1 + p % 3);
        return leaders;
    }

    private ClusterImage image(int... leaders) {
        int[][] nobody = new int[leaders.length][0];
        TopicImage topic = new TopicImage(
                TOPIC, Uuid.ONE_UUID, leaders, new int[leaders.length], new Replicas(nobody, nobody, nobody));
        List<Node> nodes = IntStream.rangeClosed(1, 3)
                .mapToObj(id -> new Node(id, "h", id, "rack-" + id))
                .toList();
        images.applyDelta(new ClusterDelta("c", nodes, List.of(topic), Map.of(), true));
        return images.current();
    }
}
