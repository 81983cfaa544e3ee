package dev.millrace.client.it.semantics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.SingleBrokerFixture;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.cluster.TopicContents;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.utils.Utils;
import org.junit.jupiter.api.Test;

/** {@code millrace.metadata.block=false}: records wait for their topic, and {@code send} does not. */
class MetadataBlockIT extends SingleBrokerFixture {
    private static final int THREADS = 4;
    private static final int BEFORE = 500;
    private static final int PER_THREAD = 2_000;

    @Test
    void shouldKeepTheOrderOfEachThreadWhenTheTopicAppearsWhileItSends() throws Exception {
        // given
        String topic = "appears";
        ConcurrentLinkedQueue<Future<RecordMetadata>> futures = new ConcurrentLinkedQueue<>();
        CountDownLatch waiting = new CountDownLatch(THREADS * BEFORE);
        try (Producer<byte[], byte[]> producer = create("batch.size", 1_000, "millrace.io.threads", 2)) {
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                int thread = t;
                threads.add(new Thread(() -> {
                    for (int i = 0; i < PER_THREAD; i++) {
                        byte[] value =
                                ByteBuffer.allocate(50).putInt(thread).putInt(i).array();
                        futures.add(producer.send(new ProducerRecord<>(topic, i % 3, null, value)));
                        waiting.countDown();
                    }
                }));
            }

            // when: the topic is created only after all are sent; a blocking producer would wait for a minute
            threads.forEach(Thread::start);
            assertThat(waiting.await(30, TimeUnit.SECONDS)).isTrue();
            cluster.createTopic(topic, 3, 1, Map.of());
            for (Thread thread : threads) {
                thread.join();
            }
            producer.flush();

            // then
            assertThat(futures).hasSize(THREADS * PER_THREAD).allMatch(Future::isDone);
            for (Future<RecordMetadata> future : futures) {
                assertThat(future.get().hasOffset()).isTrue();
            }
            assertAllMemoryIsFree(producer);
        }
        List<ConsumerRecord<byte[], byte[]>> read = TopicContents.read(cluster.clientConfig(), topic);
        assertThat(read).hasSize(THREADS * PER_THREAD);
        Map<String, Integer> last = new HashMap<>();
        for (ConsumerRecord<byte[], byte[]> record : read) {
            ByteBuffer value = ByteBuffer.wrap(record.value());
            String lane = value.getInt() + "-" + record.partition();
            int number = value.getInt();
            assertThat(number % 3).isEqualTo(record.partition());
            assertThat(last.getOrDefault(lane, -1)).as(lane).isLessThan(number);
            last.put(lane, number);
        }
    }

    /** As with a producer that blocks, a caller may reuse its arrays after {@code send} has returned. */
    @Test
    void shouldWriteTheBytesThatWereThereWhenSendReturned() throws Exception {
        String topic = "reused-arrays";
        byte[] key = new byte[4];
        byte[] value = new byte[8];
        byte[] header = new byte[4];
        List<Future<RecordMetadata>> futures = new ArrayList<>();
        try (Producer<byte[], byte[]> producer = create()) {
            // when
            for (int i = 0; i < 100; i++) {
                ByteBuffer.wrap(key).putInt(i);
                ByteBuffer.wrap(value).putInt(i).putInt(-i);
                ByteBuffer.wrap(header).putInt(i);
                futures.add(producer.send(
                        new ProducerRecord<>(topic, null, key, value, List.of(new RecordHeader("number", header)))));
            }
            cluster.createTopic(topic, 7, 1, Map.of());
            producer.flush();
        }

        // then each is in the partition that the stock producer would have chosen
        for (int i = 0; i < futures.size(); i++) {
            int partition = Utils.toPositive(Utils.murmur2(bytes(i))) % 7;
            assertThat(futures.get(i).get().partition()).isEqualTo(partition);
        }
        List<ConsumerRecord<byte[], byte[]>> read = TopicContents.read(cluster.clientConfig(), topic);
        assertThat(read).extracting(ConsumerRecord::key).doesNotHaveDuplicates().hasSize(futures.size());
        for (ConsumerRecord<byte[], byte[]> record : read) {
            int number = ByteBuffer.wrap(record.key()).getInt();
            assertThat(record.value())
                    .isEqualTo(ByteBuffer.allocate(8)
                            .putInt(number)
                            .putInt(-number)
                            .array());
            assertThat(record.headers().lastHeader("number").value()).isEqualTo(bytes(number));
        }
    }

    private static byte[] bytes(int number) {
        return ByteBuffer.allocate(4).putInt(number).array();
    }

    @Test
    void shouldFailAsTheStockProducerWouldButOnTheIoThreadWhenTheTopicStaysUnknown() throws Exception {
        AtomicReference<Thread> callbackThread = new AtomicReference<>();
        AtomicReference<RecordMetadata> metadata = new AtomicReference<>();
        try (Producer<byte[], byte[]> producer = create("max.block.ms", 2_000)) {
            Future<RecordMetadata> future = producer.send(record("stays-unknown"), (m, e) -> {
                metadata.set(m);
                callbackThread.set(Thread.currentThread());
                throw new IllegalStateException("thrown by a callback");
            });

            assertThatThrownBy(() -> future.get(30, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOf(TimeoutException.class)
                    .hasMessageContaining("Topic stays-unknown not present in metadata after 2000 ms")
                    .hasCauseInstanceOf(UnknownTopicOrPartitionException.class);
            assertThat(callbackThread.get().getName()).startsWith("millrace-io");
            assertThat(metadata.get().offset()).isEqualTo(-1);
            assertThat(metadata.get().partition()).isEqualTo(-1);
            assertAllMemoryIsFree(producer);
        }
    }

    @Test
    void shouldFailAtOnceWhenTheTopicNameIsInvalid() {
        cluster.createTopic("valid", 1, 1, Map.of());
        try (Producer<byte[], byte[]> producer = create()) {
            Future<RecordMetadata> future = producer.send(record("not a topic"));

            assertThatThrownBy(() -> future.get(30, TimeUnit.SECONDS)).hasCauseInstanceOf(InvalidTopicException.class);

            Future<RecordMetadata> tooLong = producer.send(record("x".repeat(40_000))); // for any request
            assertThatThrownBy(() -> tooLong.get(30, TimeUnit.SECONDS)).hasCauseInstanceOf(InvalidTopicException.class);
            assertThat(producer.partitionsFor("valid")).isNotEmpty();
        }
    }

    @Test
    void shouldFailAtOnceWhenMemoryIsUsedUpAndSendTheOthersAllTheSame() throws Exception {
        // given records that take all memory, so that none is left for a batch
        try (Producer<byte[], byte[]> producer = create("buffer.memory", 64_000L, "batch.size", 16_000)) {
            List<Future<RecordMetadata>> accepted = new ArrayList<>();
            Future<RecordMetadata> future = producer.send(record("fills-memory", 1_000));
            while (!future.isDone()) {
                accepted.add(future);
                future = producer.send(record("fills-memory", 1_000));
            }
            Future<RecordMetadata> refused = future;
            assertThatThrownBy(() -> refused.get(0, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(BufferExhaustedException.class);
            assertThat(accepted).hasSizeBetween(50, 63);

            // when
            cluster.createTopic("fills-memory", 4, 1, Map.of());

            // then
            for (Future<RecordMetadata> each : accepted) {
                assertThat(each.get(30, TimeUnit.SECONDS).hasOffset()).isTrue();
            }
            assertAllMemoryIsFree(producer);
            assertThat(TopicContents.read(cluster.clientConfig(), "fills-memory"))
                    .hasSameSizeAs(accepted);
        }
    }

    @Test
    void shouldLetOnlyTheUnknownPartitionWait() throws Exception {
        cluster.createTopic("grows", 1, 1, Map.of());
        try (Producer<byte[], byte[]> producer = create()) {
            Future<RecordMetadata> unknown = producer.send(new ProducerRecord<>("grows", 2, null, new byte[10]));
            Future<RecordMetadata> known = producer.send(new ProducerRecord<>("grows", 0, null, new byte[10]));
            assertThat(known.get(30, TimeUnit.SECONDS).hasOffset()).isTrue();
            assertThat(unknown).isNotDone();

            cluster.admin()
                    .createPartitions(Map.of("grows", NewPartitions.increaseTo(3)))
                    .all()
                    .get();

            assertThat(unknown.get(30, TimeUnit.SECONDS).partition()).isEqualTo(2);
        }
    }

    @Test
    void shouldWaitForTheTopicInFlushAndInClose() throws Exception {
        try (Producer<byte[], byte[]> producer = create("linger.ms", 60_000)) {
            Future<RecordMetadata> flushed = producer.send(record("flushed"));
            CompletableFuture<Void> flush = CompletableFuture.runAsync(producer::flush);
            cluster.createTopic("flushed", 1, 1, Map.of());
            flush.get(30, TimeUnit.SECONDS);
            assertThat(flushed.get(0, TimeUnit.SECONDS).hasOffset()).isTrue();

            Future<RecordMetadata> closed = producer.send(record("closed"));
            CompletableFuture<Void> close = CompletableFuture.runAsync(() -> producer.close(Duration.ofSeconds(60)));
            cluster.createTopic("closed", 1, 1, Map.of());
            close.get(30, TimeUnit.SECONDS);
            assertThat(closed.get(0, TimeUnit.SECONDS).hasOffset()).isTrue();
        }
    }

    @Test
    void shouldFailWhatWaitsWhenClosedWithoutTime() {
        Producer<byte[], byte[]> producer = create();
        Future<RecordMetadata> first = producer.send(record("left-1"));
        Future<RecordMetadata> second = producer.send(new ProducerRecord<>("left-2", 3, null, new byte[10]));

        producer.close(Duration.ZERO);

        for (Future<RecordMetadata> future : List.of(first, second)) {
            assertThatThrownBy(() -> future.get(0, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(KafkaException.class)
                    .hasMessageContaining("closed forcefully");
        }
        assertThatThrownBy(() -> producer.send(record("left-3"))).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldFailWhatWaitsWhenABrokerRefusesTheLogin() {
        Map<String, Object> client = cluster.clientConfig(Listener.SASL_PLAINTEXT);
        String jaas = client.get("sasl.jaas.config").toString().replaceAll("password=\"[^\"]*\"", "password=\"wrong\"");
        try (Producer<byte[], byte[]> producer =
                ProducerKind.MILLRACE.create(client, "sasl.jaas.config", jaas, "millrace.metadata.block", false)) {
            Future<RecordMetadata> future = producer.send(record("any"));

            assertThatThrownBy(() -> future.get(30, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(SaslAuthenticationException.class);
        }
    }

    private static Producer<byte[], byte[]> create(Object... more) {
        return ProducerKind.MILLRACE.create(
                ProducerKind.with(cluster.clientConfig(), "millrace.metadata.block", false), more);
    }

    private static void assertAllMemoryIsFree(Producer<?, ?> producer) {
        Await.until(
                "all memory is free",
                PATIENCE,
                () -> metric(producer, "buffer-available-bytes") == metric(producer, "buffer-total-bytes"));
    }
}
