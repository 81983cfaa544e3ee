package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.EncodableRecord;
import dev.millrace.client.accumulator.ReadyQueues;
import dev.millrace.client.accumulator.RecordEncoder;
import dev.millrace.client.io.IoContext;
import dev.millrace.client.io.IoThreads;
import dev.millrace.client.io.SenderSettings;
import dev.millrace.client.kafka.KafkaBridge;
import dev.millrace.client.kafka.Plugins;
import dev.millrace.client.memory.BufferPool;
import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.Replicas;
import dev.millrace.client.metadata.StalledBrokers;
import dev.millrace.client.metadata.TopicImage;
import dev.millrace.client.metadata.TopicRegistry;
import dev.millrace.client.partitioner.PartitionChooser;
import dev.millrace.client.partitioner.PartitionLoad;
import dev.millrace.client.support.BlockedCall;
import dev.millrace.testkit.Await;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** {@code send} without I/O threads: no record is acknowledged, and the test provides metadata. */
class RecordSenderTest {
    private static final long MAX_BLOCK_MS = 1500;
    private static final int BATCH_SIZE = 10_000;
    private static final byte[] POISON = {13};

    private final ProducerConfig config = ProducerSettings.parse(
            Map.of(
                    "bootstrap.servers",
                    "localhost:1",
                    "max.block.ms",
                    MAX_BLOCK_MS,
                    "batch.size",
                    BATCH_SIZE,
                    "buffer.memory",
                    2L * BATCH_SIZE,
                    "max.request.size",
                    3 * BATCH_SIZE),
            new ByteArraySerializer(),
            new ByteArraySerializer());
    private final KafkaBridge kafka = new KafkaBridge(config);
    private final ReadyQueues ready = ReadyQueues.forThreads(1);
    private final BufferPool memory = new BufferPool(2 * BATCH_SIZE, BATCH_SIZE, ready::wake);
    private final ClusterImages images = new ClusterImages(ClusterImage.bootstrap(kafka.bootstrapServers()));
    private final List<List<String>> shown = new CopyOnWriteArrayList<>();
    private final Partitioner partitioner = new PoisonedPartitioner();
    private final RecordSender<byte[], byte[]> sender = sender(true, 0);

    private RecordSender<byte[], byte[]> sender(boolean mayBlock, int ioThread) {
        Accumulator accumulator = new Accumulator(memory, ready, kafka.codec(), kafka::nowMs, 0);
        TopicRegistry registry = new TopicRegistry();
        IoContext context = new IoContext(
                accumulator,
                ready.get(0),
                images,
                registry,
                new StalledBrokers(0),
                kafka.openLink(images, ioThread),
                kafka.sensors(),
                kafka::nowMs,
                kafka::nowMs);
        MillraceConfig own = MillraceConfig.parse(Map.of());
        SenderSettings settings = ProducerSettings.senderSettings(config, own);
        IoThreads neverStarted = new IoThreads(List.of(context), ready, settings, Optional.empty());
        PartitionLoad load = new PartitionLoad(accumulator, new StalledBrokers[] {context.stalled()}, false, "");
        Plugins<byte[], byte[]> plugins = kafka.createPlugins(new ByteArraySerializer(), new PoisonedSerializer());
        SendContext<byte[], byte[]> sending = new SendContext<>(
                plugins.interceptors(),
                new RecordSerializer<>(plugins.keySerializer(), plugins.valueSerializer()),
                new PartitionChooser(config, partitioner, load),
                new TopicLookup(images, registry, neverStarted.metadata(), kafka.sensors()),
                accumulator,
                neverStarted,
                kafka.sensors(),
                null);
        return new RecordSender<>(config, sending, RecordSizeLimit.of(config, own), mayBlock);
    }

    @AfterEach
    void close() {
        kafka.close();
    }

    /** An array has fewer bytes, so the size of such a record is not known exactly. */
    @Test
    void shouldRefuseARecordThatNoBatchCanHoldWhateverTheLimits() {
        long content = 3L << 30;
        int size = RecordEncoder.batchSizeUpperBound(content);

        assertThatThrownBy(() -> RecordSender.requireAllowed(
                        size, new RecordSizeLimit(Integer.MAX_VALUE, "max.request.size", Long.MAX_VALUE)))
                .isInstanceOf(RecordTooLargeException.class)
                .hasMessage("The message is 2147483647 bytes or more when serialized, which no batch can hold.");
    }

    /** The value is shared by all headers, so that the test needs little memory. */
    @Test
    void shouldRefuseARecordWhoseHeadersAreLargerThanAnyArray() {
        publish("known");
        byte[] value = new byte[1 << 24];

        for (int count : new int[] {129, 257}) { // 2 GiB as an int is negative, and 4 GiB are next to nothing
            List<Header> headers = Collections.nCopies(count, new RecordHeader("h", value));
            Future<RecordMetadata> refused =
                    sender.send(new ProducerRecord<>("known", null, null, null, new byte[1], headers), null);

            assertThatThrownBy(refused::get)
                    .cause()
                    .isInstanceOf(RecordTooLargeException.class)
                    .hasMessageContaining("headers");
        }
        assertThat(memory.available()).isEqualTo(memory.total());
    }

    /** KAFKA-3648. */
    @Test
    void shouldWaitForMetadataAndMemoryInOneBudgetOfMaxBlockMs() throws Exception {
        // given memory for two records of three
        byte[] value = new byte[BATCH_SIZE - 1000];
        publish("known");
        sender.send(new ProducerRecord<>("known", 0, null, value), null);
        sender.send(new ProducerRecord<>("known", 1, null, value), null);
        assertThat(memory.available()).isLessThan(value.length);

        // when a topic becomes known after 200 ms
        CompletableFuture<Future<RecordMetadata>> sent = new CompletableFuture<>();
        Thread waiting = new Thread(
                () -> sent.complete(sender.send(new ProducerRecord<>("late", 0, null, value), null)), "waiting");
        waiting.start();
        BlockedCall.awaitWaiting(waiting);
        long sinceNs = System.nanoTime();
        Await.until(
                "some of the budget is spent",
                Duration.ofSeconds(30),
                () -> System.nanoTime() - sinceNs > TimeUnit.MILLISECONDS.toNanos(200));
        publish("known", "late");

        // then it waits for memory no longer than the rest of max.block.ms
        assertThatThrownBy(() -> sent.get(30, TimeUnit.SECONDS).get())
                .cause()
                .isInstanceOf(BufferExhaustedException.class)
                .satisfies(e -> assertThat(waitedMs(e)).isBetween(1L, MAX_BLOCK_MS - 200));
    }

    private static long waitedMs(Throwable exhausted) {
        Matcher matcher = Pattern.compile("max blocking time (\\d+) ms").matcher(exhausted.getMessage());
        assertThat(matcher.find()).isTrue();
        return Long.parseLong(matcher.group(1));
    }

    /** KAFKA-3651, KAFKA-4741. */
    @Test
    void shouldLeaveNoMemoryBehindWhenSendFails() {
        publish("known");
        byte[] larger = new byte[2 * BATCH_SIZE];

        assertThatThrownBy(sender.send(new ProducerRecord<>("known", larger), null)::get)
                .hasCauseInstanceOf(RecordTooLargeException.class);
        assertThatThrownBy(() -> sender.send(new ProducerRecord<>("known", POISON), null))
                .isInstanceOf(IllegalStateException.class);

        assertThat(memory.available()).isEqualTo(memory.total());
    }

    /** It runs on the I/O thread there, which must go on for the other records. */
    @Test
    void shouldFailOnlyTheWaitingRecordForWhichThePartitionerMeetsAnError() throws Exception {
        publish("known");

        Future<RecordMetadata> failed = sender.append(waiting(POISON), images.current());
        Future<RecordMetadata> appended = sender.append(waiting(new byte[10]), images.current());

        assertThatThrownBy(failed::get)
                .cause()
                .isInstanceOf(KafkaException.class)
                .hasCauseInstanceOf(StackOverflowError.class);
        assertThat(appended).isNotDone();
        assertThat(memory.available()).isLessThan(memory.total());
    }

    /** As {@code send} returns, the caller may use the arrays for the next record. */
    @Test
    void shouldTakeTheBytesOfAWaitingRecordWhenSendReturns() {
        // given
        RecordSender<byte[], byte[]> unblocked = sender(false, 1);
        byte[] key = {1, 2};
        byte[] value = {3, 4, 5};
        byte[] header = {6};

        // when
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>("known", null, 7L, key, value);
        record.headers().add("h", header);
        @SuppressWarnings("unchecked")
        WaitingRecord<byte[], byte[]> waited = (WaitingRecord<byte[], byte[]>) unblocked.send(record, null);
        for (byte[] reused : List.of(key, value, header)) {
            Arrays.fill(reused, (byte) 99);
        }
        publish("known");
        unblocked.append(waited, images.current());

        // then
        assertThat(waited.encoded().key()).containsExactly(1, 2);
        assertThat(waited.encoded().value()).containsExactly(3, 4, 5);
        assertThat(waited.encoded().headers()).containsSequence((byte) 'h', (byte) 2, (byte) 6);
        assertThat(shown).containsExactly(List.of("[1, 2]", "[1, 2]", "[3, 4, 5]", "[3, 4, 5]"));
        assertThatThrownBy(() -> waited.record().headers().add("too", header))
                .isInstanceOf(IllegalStateException.class);
        assertThat(waited.record().headers().lastHeader("h")).isNotNull();
    }

    private static WaitingRecord<byte[], byte[]> waiting(byte[] value) {
        EncodableRecord encoded = new EncodableRecord(0, null, value, RecordEncoder.encodeHeaders(new Header[0]));
        return new WaitingRecord<>(new ProducerRecord<>("known", value), encoded, null, Long.MAX_VALUE, 0);
    }

    /** Two partitions each. */
    private void publish(String... topics) {
        int[][] nobody = new int[2][0];
        List<TopicImage> known = List.of(topics).stream()
                .map(topic -> new TopicImage(
                        topic,
                        new Uuid(1, topic.hashCode()),
                        new int[] {1, 1},
                        new int[] {0, 0},
                        new Replicas(nobody, nobody, nobody)))
                .toList();
        images.applyDelta(new ClusterDelta("c", List.of(new Node(1, "localhost", 1)), known, Map.of(), true));
    }

    /** Throws at one value, and notes the others. */
    private final class PoisonedPartitioner implements Partitioner {
        @Override
        public int partition(
                String topic, Object key, byte[] keyBytes, Object value, byte[] valueBytes, Cluster cluster) {
            if (value == POISON) {
                throw new StackOverflowError("thrown by a partitioner on purpose");
            }
            shown.add(Stream.of((byte[]) key, keyBytes, (byte[]) value, valueBytes)
                    .map(Arrays::toString)
                    .toList());
            return 1;
        }

        @Override
        public void close() {}

        @Override
        public void configure(Map<String, ?> configs) {}
    }

    /** Throws at one value. */
    private static final class PoisonedSerializer implements Serializer<byte[]> {
        @Override
        public byte[] serialize(String topic, byte[] value) {
            if (value == POISON) {
                throw new IllegalStateException("thrown by a serializer on purpose");
            }
            return value;
        }
    }
}
