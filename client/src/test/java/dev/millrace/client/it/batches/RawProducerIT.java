package dev.millrace.client.it.batches;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.accumulator.Seed;
import dev.millrace.client.raw.RawPartition;
import dev.millrace.client.raw.RawProducer;
import dev.millrace.client.raw.RawProducerId;
import dev.millrace.client.raw.RawResult;
import dev.millrace.client.support.Deadlines;
import dev.millrace.client.support.Leaders;
import dev.millrace.client.support.LeakOracle;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.SingleBrokerFixture;
import dev.millrace.client.support.SourceBatch;
import dev.millrace.kafka.common.protocol.ApiKeys;
import dev.millrace.kafka.common.record.internal.CompressionType;
import dev.millrace.kafka.common.record.internal.SimpleRecord;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.cluster.TopicContents;
import dev.millrace.testkit.proxy.FaultProxy;
import dev.millrace.testkit.proxy.FaultProxy.Fault;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whole batches and encoded records, written to real brokers beside ordinary records, and read back one by one. */
@Tag("thorough")
class RawProducerIT {
    private static final int PARTITIONS = 3;

    /** Each broker leads one. */
    private static final Map<Integer, List<Integer>> REPLICAS =
            Map.of(0, Leaders.from(1), 1, Leaders.from(2), 2, Leaders.from(3));

    private static final int MAX_MESSAGE_BYTES = 5_000;
    private static final Object[] SETTINGS = {"request.timeout.ms", 3_000};
    private static final Duration RECOVERY = Deadlines.recovery(SETTINGS);

    @AutoClose
    private static KafkaCluster cluster;

    private static List<FaultProxy> proxies;

    @BeforeAll
    static void start() {
        cluster = KafkaCluster.builder().brokers(3).listeners(Listener.PROXIED).start();
        proxies = IntStream.rangeClosed(1, 3).mapToObj(cluster::proxy).toList();
    }

    @ParameterizedTest
    @EnumSource
    void shouldWriteRecordForRecordWhatEachCodecHolds(CompressionType codec) throws Exception {
        String topic = topic("codec-" + codec.name, Map.of());
        Mix mix = new Mix(topic, "compression.type", codec == CompressionType.NONE ? "lz4" : "none");

        for (int i = 0; i < 60; i++) {
            mix.writeSome(codec);
        }
        mix.producer.flush();

        assertThat(mix.results).allMatch(RawResult::isDone);
        mix.closeAndCompare();
    }

    @Test
    void shouldWriteOnceAndInOrderWhenConnectionsBreakAndLeadersMove() throws Exception {
        String topic = "raw-faults";
        cluster.createServedTopic(topic, REPLICAS, Map.of("retention.ms", "-1")); // it asks who leads before it writes
        Mix mix = new Mix(topic);

        for (Fault fault : Fault.values()) {
            for (int p = 0; p < PARTITIONS; p++) {
                FaultProxy leader = proxies.get(cluster.leader(topic, p) - 1);
                CompletableFuture<Void> failed = leader.failNext(ApiKeys.PRODUCE, fault);
                for (int i = 0; i < 40; i++) {
                    mix.writeSome(CompressionType.forId(i % 5));
                }
                failed.get(RECOVERY.toMillis(), TimeUnit.MILLISECONDS);
            }
            int moving = mix.random.nextInt(PARTITIONS);
            CompletableFuture<Void> moved = CompletableFuture.runAsync(
                    () -> Leaders.move(cluster, topic, moving, Leaders.others(cluster, topic, moving)));
            while (!moved.isDone()) { // how long a move takes is the brokers' affair: the deadline begins with its end
                mix.writeSome(CompressionType.SNAPPY);
                Await.until(
                        "all records have an outcome, or the leader has moved",
                        Deadlines.outcome(SETTINGS),
                        () -> mix.isDone() || moved.isDone());
            }
            moved.get();
            mix.awaitDone(RECOVERY);
        }

        mix.closeAndCompare();
    }

    @ParameterizedTest
    @EnumSource
    void shouldSplitABatchThatIsTooLargeForTheTopic(CompressionType codec) throws Exception {
        String topic = topic("large-" + codec.name, Map.of("max.message.bytes", Integer.toString(MAX_MESSAGE_BYTES)));
        Mix mix = new Mix(topic);

        mix.writeSome(codec);
        for (int i = 0; i < 3; i++) {
            mix.pass(0, codec, 600);
            mix.append(0);
        }
        mix.awaitDone(RECOVERY);

        assertThat(SingleBrokerFixture.metric(mix.producer, "batch-split-total"))
                .isPositive();
        mix.closeAndCompare();
    }

    /** With the source's checksum made anew, the broker would have written what is corrupt. */
    @Test
    void shouldReportACorruptBatchAndGoOn() throws Exception {
        String topic = topic("corrupt", Map.of());
        Mix mix = new Mix(topic);
        List<RawResult> corrupt = new ArrayList<>();

        for (CompressionType codec : CompressionType.values()) {
            mix.writeSome(codec);
            corrupt.add(mix.raw(0).pass(corrupt(codec, 50)));
            mix.writeSome(codec);
        }
        mix.awaitDone(RECOVERY);
        Await.until("the corrupt ones fail", RECOVERY, () -> corrupt.stream().allMatch(RawResult::isDone));

        assertThat(corrupt)
                .extracting(RawResult::failureOrNull)
                .allMatch(failure -> failure instanceof CorruptRecordException);
        mix.closeAndCompare();
    }

    @Test
    void shouldReportABatchThatIsCorruptAndTooLarge() throws Exception {
        String topic = topic("corrupt-large", Map.of("max.message.bytes", Integer.toString(MAX_MESSAGE_BYTES)));
        Mix mix = new Mix(topic);

        mix.writeSome(CompressionType.NONE);
        RawResult corrupt = mix.raw(0).pass(corrupt(CompressionType.GZIP, 900));
        mix.writeSome(CompressionType.NONE);
        mix.awaitDone(RECOVERY);
        Await.until("it fails", RECOVERY, corrupt::isDone);

        assertThat(corrupt.failureOrNull())
                .isInstanceOf(CorruptRecordException.class)
                .hasMessageContaining("checksum");
        mix.closeAndCompare();
    }

    @Test
    void shouldRefuseAtOnceWhatCanNeverBeSent() throws Exception {
        String topic = topic("refused", Map.of());
        ByteBuffer batch = SourceBatch.of(CompressionType.NONE, List.of(new SimpleRecord(1, null, new byte[2_000])));
        try (Producer<byte[], byte[]> producer =
                ProducerKind.MILLRACE.create(cluster.clientConfig(), "max.request.size", 1_000, "max.block.ms", 500)) {
            RawPartition raw = RawProducer.of(producer).partition(topic, 0);

            assertThatThrownBy(() -> raw.pass(batch))
                    .isInstanceOf(RecordTooLargeException.class)
                    .hasMessageContaining("A batch for " + topic + "-0")
                    .hasMessageContaining("max.request.size allows 1000");
            assertThatThrownBy(() -> raw.append(1, new byte[2_000], 0, 2_000))
                    .isInstanceOf(RecordTooLargeException.class);
            assertThatThrownBy(() -> raw.append(1, new byte[10], 5, 6)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> raw.pass(batch.duplicate().limit(900)))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> RawProducer.of(producer).partition(topic, PARTITIONS))
                    .isInstanceOf(TimeoutException.class);
            assertThatThrownBy(() -> RawProducer.of(producer).partition(topic, -1))
                    .isInstanceOf(IllegalArgumentException.class);
            producer.close(RECOVERY);
            assertThatThrownBy(() -> raw.append(1, new byte[10], 0, 10)).isInstanceOf(KafkaException.class);
        }
        try (Producer<byte[], byte[]> producer =
                ProducerKind.MILLRACE.create(cluster.clientConfig(), "buffer.memory", 1_500L, "batch.size", 500)) {
            assertThatThrownBy(
                            () -> RawProducer.of(producer).partition(topic, 0).pass(batch))
                    .isInstanceOf(RecordTooLargeException.class)
                    .hasMessageContaining("buffer.memory allows 1500");
        }
        assertThat(TopicContents.read(cluster.clientConfig(), topic)).isEmpty();
    }

    @Test
    void shouldRefuseOtherProducers() {
        try (Producer<byte[], byte[]> stock = ProducerKind.STOCK.create(cluster.clientConfig())) {
            assertThatThrownBy(() -> RawProducer.of(stock))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("KafkaProducer");
        }
    }

    @Test
    void shouldBelongToTheTransactionThatIsOpen() throws Exception {
        String topic = topic("transactions", Map.of());
        Mix mix = new Mix(topic, "transactional.id", "raw");
        mix.producer.initTransactions();
        ByteBuffer batch = SourceBatch.of(CompressionType.LZ4, randomRecords(mix.random, 2));
        assertThatThrownBy(() -> mix.raw(0).pass(batch)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> mix.raw(0).sequenceFrom(new RawProducerId(1, (short) 0), 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("transactions");

        for (int transaction = 0; transaction < 9; transaction++) {
            int[] before = mix.written.stream().mapToInt(List::size).toArray();
            mix.producer.beginTransaction();
            for (int i = 0; i < 10; i++) {
                mix.writeSome(CompressionType.forId(i % 5));
            }
            if (transaction % 3 == 1) {
                mix.producer.abortTransaction();
                for (int p = 0; p < PARTITIONS; p++) {
                    mix.written.set(p, new ArrayList<>(mix.written.get(p).subList(0, before[p])));
                }
            } else {
                mix.producer.commitTransaction();
            }
        }

        mix.producer.close();
        Map<String, Object> reader = ProducerKind.with(cluster.clientConfig(), "isolation.level", "read_committed");
        mix.compare(TopicContents.read(reader, topic));
    }

    @Test
    void shouldSendWhatWasPassedBeforeClose() throws Exception {
        String topic = topic("close", Map.of());
        Mix mix = new Mix(topic, "linger.ms", 60_000);

        for (int i = 0; i < 30; i++) {
            mix.writeSome(CompressionType.ZSTD);
        }

        mix.closeAndCompare();
    }

    /** A producer, and the records that were written with it in each of the three ways. */
    private static final class Mix {
        private final Random random = Seed.random("RawProducerIT");
        private final String topic;
        private final Producer<byte[], byte[]> producer;
        private final LeakOracle leaks;
        private final List<RawPartition> partitions = new ArrayList<>();
        private final List<List<SimpleRecord>> written = new ArrayList<>();
        private final List<RawResult> results = new ArrayList<>();
        private final List<Future<RecordMetadata>> futures = new ArrayList<>();

        Mix(String topic, Object... more) {
            this.topic = topic;
            Map<String, Object> configs = ProducerKind.with(cluster.clientConfig(Listener.PROXIED), SETTINGS);
            this.producer = ProducerKind.MILLRACE.create(configs, more);
            this.leaks = LeakOracle.of(producer);
            for (int p = 0; p < PARTITIONS; p++) {
                partitions.add(RawProducer.of(producer).partition(topic, p));
                written.add(new ArrayList<>());
            }
        }

        RawPartition raw(int partition) {
            return partitions.get(partition);
        }

        /** Something for each partition. */
        void writeSome(CompressionType codec) {
            for (int p = 0; p < PARTITIONS; p++) {
                switch (random.nextInt(3)) {
                    case 0 -> pass(p, codec, 1 + random.nextInt(40));
                    case 1 -> append(p);
                    default -> send(p);
                }
            }
        }

        void pass(int partition, CompressionType codec, int count) {
            List<SimpleRecord> records = randomRecords(random, count);
            written.get(partition).addAll(records);
            results.add(raw(partition).pass(SourceBatch.of(codec, records)));
        }

        void append(int partition) {
            List<SimpleRecord> one = randomRecords(random, 1);
            written.get(partition).addAll(one);
            ByteBuffer batch = SourceBatch.of(CompressionType.NONE, one);
            int bodySize = batch.limit() - SourceBatch.RECORDS_AT; // with its length, which is a varint of 1 or 2 bytes
            int lengthSize = bodySize - 1 > 63 ? 2 : 1;
            byte[] bytes = new byte[batch.remaining()];
            batch.duplicate().get(bytes);
            int from = SourceBatch.RECORDS_AT + lengthSize + 3; // after attributes and two deltas of 0
            results.add(raw(partition).append(one.get(0).timestamp(), bytes, from, bytes.length - from));
        }

        private void send(int partition) {
            SimpleRecord record = randomRecords(random, 1).get(0);
            written.get(partition).add(record);
            futures.add(producer.send(new ProducerRecord<>(
                    topic,
                    partition,
                    record.timestamp(),
                    bytes(record.key()),
                    bytes(record.value()),
                    List.of(record.headers()))));
        }

        boolean isDone() {
            return results.stream().allMatch(RawResult::isDone)
                    && futures.stream().allMatch(Future::isDone);
        }

        /** Fails with what the brokers say, since a record also waits for the followers. */
        void awaitDone(Duration within) throws Exception {
            if (!Await.holdsWithin(within, this::isDone)) {
                throw new AssertionError("%d of %d raw results and %d of %d futures are done after %s; %s"
                        .formatted(
                                results.stream().filter(RawResult::isDone).count(),
                                results.size(),
                                futures.stream().filter(Future::isDone).count(),
                                futures.size(),
                                within,
                                cluster.admin()
                                        .describeTopics(List.of(topic))
                                        .allTopicNames()
                                        .get()));
            }
        }

        void closeAndCompare() throws Exception {
            producer.close(RECOVERY);
            leaks.assertNothingLeft();
            assertThat(results).allMatch(result -> result.failureOrNull() == null);
            for (Future<RecordMetadata> future : futures) {
                future.get(0, TimeUnit.SECONDS);
            }
            List<ConsumerRecord<byte[], byte[]>> read = TopicContents.read(cluster.clientConfig(), topic);
            compare(read);
            for (int p = 0; p < PARTITIONS; p++) {
                assertThat(of(p, read)).extracting(ConsumerRecord::offset).containsExactlyElementsOf(offsets(p));
            }
        }

        private List<Long> offsets(int partition) {
            return LongStream.range(0, written.get(partition).size()).boxed().toList();
        }

        void compare(List<ConsumerRecord<byte[], byte[]>> read) {
            for (int p = 0; p < PARTITIONS; p++) {
                assertSame(written.get(p), of(p, read));
            }
        }

        private static List<ConsumerRecord<byte[], byte[]>> of(
                int partition, List<ConsumerRecord<byte[], byte[]>> read) {
            return read.stream().filter(r -> r.partition() == partition).toList();
        }
    }

    private static void assertSame(List<SimpleRecord> written, List<ConsumerRecord<byte[], byte[]>> read) {
        assertThat(read).hasSameSizeAs(written);
        for (int i = 0; i < read.size(); i++) {
            SimpleRecord expected = written.get(i);
            assertThat(read.get(i).key()).as("key of %d", i).isEqualTo(bytes(expected.key()));
            assertThat(read.get(i).value()).as("value of %d", i).isEqualTo(bytes(expected.value()));
            assertThat(read.get(i).timestamp()).as("timestamp of %d", i).isEqualTo(expected.timestamp());
            assertThat(read.get(i).headers().toArray()).as("headers of %d", i).containsExactly(expected.headers());
        }
    }

    private static byte[] bytes(ByteBuffer buffer) {
        if (buffer == null) {
            return null;
        }
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    /** The broker finds the last bit of a batch to be wrong. */
    private static ByteBuffer corrupt(CompressionType codec, int count) {
        ByteBuffer batch = SourceBatch.of(codec, randomRecords(new Random(count), count));
        int last = batch.limit() - 1;
        return batch.put(last, (byte) (batch.get(last) ^ 1));
    }

    private static List<SimpleRecord> randomRecords(Random random, int count) {
        List<SimpleRecord> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Header[] headers = new Header[random.nextInt(3) == 0 ? 1 + random.nextInt(3) : 0];
            for (int h = 0; h < headers.length; h++) {
                headers[h] = new RecordHeader("header" + h, random.nextBoolean() ? null : randomBytes(random));
            }
            records.add(new SimpleRecord(
                    System.currentTimeMillis() - random.nextInt(100_000),
                    random.nextBoolean() ? null : randomBytes(random),
                    random.nextInt(10) == 0 ? null : randomBytes(random),
                    headers));
        }
        return records;
    }

    /** Half of them the same, so that codecs can compress them. */
    private static byte[] randomBytes(Random random) {
        byte[] bytes = new byte[random.nextInt(120)];
        random.nextBytes(bytes);
        Arrays.fill(bytes, 0, bytes.length / 2, (byte) 7);
        return bytes;
    }

    private static String topic(String name, Map<String, String> configs) {
        String topic = "raw-" + name;
        Map<String, String> all = new HashMap<>(configs);
        all.put("retention.ms", "-1"); // records are of 2023, and are to be read
        cluster.createTopic(topic, REPLICAS, all);
        return topic;
    }
}
