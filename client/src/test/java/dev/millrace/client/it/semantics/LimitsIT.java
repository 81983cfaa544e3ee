package dev.millrace.client.it.semantics;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.millrace.client.raw.RawProducer;
import dev.millrace.client.support.JudgedSends;
import dev.millrace.client.support.LeakOracle;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.SingleBrokerFixture;
import dev.millrace.client.support.Tries;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.TopicContents;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What fits into a request, a batch and the memory, and what happens when it does not. */
class LimitsIT extends SingleBrokerFixture {
    /** Batch header, record overhead, null key, length of the value, no headers. */
    private static final int OVERHEAD = 61 + 21 + 1 + 3 + 1;

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldTakeARecordOfExactlyMaxRequestSize(ProducerKind kind) throws Exception {
        // given
        String topic = topic("exact-size", kind, 1);
        int valueSize = 100_000 - OVERHEAD;

        // when
        JudgedSends sends;
        try (Producer<byte[], byte[]> producer =
                kind.create(cluster.clientConfig(), "max.request.size", 100_000, "batch.size", 1000)) {
            sends = new JudgedSends(producer, topic);
            sends.send(valueSize).get();
            Future<RecordMetadata> oneMore = producer.send(record(topic, valueSize + 1));

            // then
            assertThatThrownBy(oneMore::get)
                    .hasCauseInstanceOf(RecordTooLargeException.class)
                    .hasMessageContaining("max.request.size");
        }
        sends.assertAllThere(cluster.clientConfig());
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldJudgeTheSizeBeforeCompression(ProducerKind kind) {
        String topic = topic("uncompressed-size", kind, 1);
        try (Producer<byte[], byte[]> producer =
                kind.create(cluster.clientConfig(), "max.request.size", 10_000, "compression.type", "gzip")) {
            Future<RecordMetadata> zeros = producer.send(record(topic, 10_000));

            assertThatThrownBy(zeros::get).hasCauseInstanceOf(RecordTooLargeException.class);
        }
    }

    @Test
    void shouldSendARecordLargerThanARequestByItselfIfItMay() throws Exception {
        // given
        String topic = topic("large-record", ProducerKind.MILLRACE, 1, Map.of("max.message.bytes", "200000"));
        JudgedSends sends;
        try (Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(
                ProducerKind.with(cluster.clientConfig(), "millrace.max.record.size", 100_000),
                "max.request.size",
                10_000,
                "batch.size",
                5_000)) {
            sends = new JudgedSends(producer, topic);

            // when
            for (int size : new int[] {100, 100_000 - OVERHEAD, 6_000, 50_000, 100}) {
                sends.send(size);
            }
            Future<RecordMetadata> oneMore = producer.send(record(topic, 100_001 - OVERHEAD));

            // then
            assertThatThrownBy(oneMore::get)
                    .hasCauseInstanceOf(RecordTooLargeException.class)
                    .hasMessageContaining("millrace.max.record.size");
        }
        sends.assertAllThere(cluster.clientConfig());
    }

    /** The headers share one value, and the batch is a file of holes: so neither needs the memory that it would take. */
    @Test
    void shouldRefuseWhatNoBatchCanHoldAndGoOnWhenTheLimitsAllowIt(@TempDir Path directory) throws Exception {
        // given
        String topic = topic("larger-than-an-array", ProducerKind.MILLRACE, 1);
        List<Header> headers = Collections.nCopies(129, new RecordHeader("h", new byte[1 << 24]));
        try (Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(
                        cluster.clientConfig(), "buffer.memory", 4L << 30, "max.request.size", Integer.MAX_VALUE);
                FileChannel file = FileChannel.open(directory.resolve("batch"), CREATE, READ, WRITE)) {
            ByteBuffer batch = file.map(FileChannel.MapMode.READ_WRITE, 0, Integer.MAX_VALUE);
            Future<RecordMetadata> before = producer.send(record(topic, 10));

            // when
            Future<RecordMetadata> refused =
                    producer.send(new ProducerRecord<>(topic, 0, null, null, new byte[1], headers));
            Throwable refusal = catchThrowable(
                    () -> RawProducer.of(producer).partition(topic, 0).pass(batch));

            // then
            assertThatThrownBy(refused::get).hasCauseInstanceOf(RecordTooLargeException.class);
            assertThat(refusal).isInstanceOf(RecordTooLargeException.class);
            producer.send(record(topic, 20)).get();
            before.get();
        }
        assertThat(TopicContents.read(cluster.clientConfig(), topic)).hasSize(2);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldNameMaxRequestSizeBeforeBufferMemoryWhenARecordIsTooLargeForBoth(ProducerKind kind) {
        String topic = topic("larger-than-memory", kind, 1);
        try (Producer<byte[], byte[]> producer = kind.create(
                cluster.clientConfig(), "buffer.memory", 50_000L, "batch.size", 1000, "max.request.size", 60_000)) {
            assertThatThrownBy(producer.send(record(topic, 50_000))::get)
                    .hasCauseInstanceOf(RecordTooLargeException.class)
                    .hasMessageContaining("buffer.memory");
            assertThatThrownBy(producer.send(record(topic, 60_000))::get)
                    .hasCauseInstanceOf(RecordTooLargeException.class)
                    .hasMessageContaining("max.request.size");
        }
    }

    @ParameterizedTest
    @CsvSource({"MILLRACE, 0", "STOCK, 0", "MILLRACE, 1", "STOCK, 1", "MILLRACE, 100", "STOCK, 100"})
    void shouldTakeRecordsOfAllSizesWhenBatchesAreTiny(ProducerKind kind, int batchSize) throws Exception {
        // given records without keys, so that the partitioner uses batch.size too
        String topic = topic("tiny-batches-" + batchSize, kind, 3);
        Map<Future<RecordMetadata>, byte[]> sent = new HashMap<>();
        int first;

        // when
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "batch.size", batchSize)) {
            first = sendFirstIfStock(producer, topic, 3);
            for (int i = 0; i < 200; i++) {
                byte[] value = new byte[i * 10];
                Arrays.fill(value, (byte) (i + 1));
                sent.put(producer.send(new ProducerRecord<>(topic, value)), value);
            }
        }

        // then
        Map<List<Object>, byte[]> left = new HashMap<>();
        TopicContents.read(cluster.clientConfig(), topic)
                .forEach(read -> left.put(List.of(read.partition(), read.offset()), read.value()));
        for (Map.Entry<Future<RecordMetadata>, byte[]> each : sent.entrySet()) {
            RecordMetadata told = each.getKey().get(0, TimeUnit.SECONDS);
            assertThat(left.remove(List.of(told.partition(), told.offset())))
                    .as("read at %s", told)
                    .isEqualTo(each.getValue());
        }
        assertThat(left).as("besides the first of each partition").hasSize(first);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailTheFutureWhenNoMemoryComesBackInTime(ProducerKind kind) throws Exception {
        // given a broker that does not answer
        String topic = topic("memory", kind, 1);
        JudgedSends sends;
        try (Producer<byte[], byte[]> producer = kind.create(
                cluster.clientConfig(), "buffer.memory", 64_000L, "batch.size", 16_000, "max.block.ms", 300)) {
            sends = new JudgedSends(producer, topic);
            Await.until("a record is acknowledged", PATIENCE, () -> Tries.isAcknowledged(sends.send(100)));
            cluster.pause(1);
            List<Future<RecordMetadata>> futures = new ArrayList<>();
            List<Thread> callbackThreads = Collections.synchronizedList(new ArrayList<>());

            // when
            try {
                for (int i = 0; i < 8; i++) {
                    futures.add(sends.send(0, null, null, 15_000, (m, e) -> {
                        if (e instanceof BufferExhaustedException) {
                            callbackThreads.add(Thread.currentThread());
                        }
                    }));
                }
            } finally {
                cluster.resume(1);
            }

            // then
            assertThatThrownBy(() -> futures.get(7).get()).hasCauseInstanceOf(BufferExhaustedException.class);
            assertThat(callbackThreads).isNotEmpty().containsOnly(Thread.currentThread());
            for (Future<RecordMetadata> accepted : futures.subList(0, 3)) {
                assertThat(accepted.get().hasOffset()).isTrue();
            }
            // the waiter that gave up has left the queue: all of the memory is available again
            LeakOracle.of(producer).awaitFreeMemory();
            assertThat(sends.send(63_000).get().hasOffset()).isTrue();
        }
        sends.assertAsTold(cluster.clientConfig());
    }

    /** The stock producer sends them too, but only when something else wakes its I/O thread, which takes a minute. */
    @Test
    void shouldSendWhatLingersWhenMemoryIsShort() throws Exception {
        // given open batches that linger for an hour
        String topic = topic("pressure", ProducerKind.MILLRACE, 10);
        JudgedSends sends;
        Map<String, Object> lingering =
                ProducerKind.with(cluster.clientConfig(), "linger.ms", 3_600_000, "delivery.timeout.ms", 7_200_000);
        try (Producer<byte[], byte[]> producer =
                ProducerKind.MILLRACE.create(lingering, "buffer.memory", 64_000L, "batch.size", 16_000)) {
            sends = new JudgedSends(producer, topic);

            // when there is memory for four partitions of ten
            for (int i = 0; i < 100; i++) {
                sends.send(0, i % 10, null, 100, (metadata, error) -> {});
            }
        }

        // then none of them had to wait for max.block.ms
        sends.assertAllThere(cluster.clientConfig());
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailOnlyTheRecordThatTheBrokerFindsTooLarge(ProducerKind kind) throws Exception {
        // given a topic with a smaller limit than the producer's
        String topic = topic("small-messages", kind, 1, Map.of("max.message.bytes", "2000"));

        // when
        JudgedSends sends;
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "batch.size", 0)) {
            sends = new JudgedSends(producer, topic);
            sends.send(100).get();
            List<Future<RecordMetadata>> before = new ArrayList<>();
            List<Future<RecordMetadata>> after = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                before.add(sends.send(100));
            }
            Future<RecordMetadata> tooLarge = sends.send(5000);
            for (int i = 0; i < 20; i++) {
                after.add(sends.send(100));
            }

            // then
            assertThatThrownBy(tooLarge::get).hasCauseInstanceOf(RecordTooLargeException.class);
            for (int i = 0; i < 20; i++) {
                assertThat(before.get(i).get().offset()).isEqualTo(1 + i);
                assertThat(after.get(i).get().offset()).isEqualTo(21 + i);
            }
        }
        assertThat(sends.assertAsTold(cluster.clientConfig()).acknowledged()).isEqualTo(41);
    }
}
