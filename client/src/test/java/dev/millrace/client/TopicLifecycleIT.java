package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.testkit.Await;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Topics that are deleted, created anew under another id, and given more partitions while a producer uses them. */
class TopicLifecycleIT extends SemanticsFixture {
    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldSendToTheNewTopicWhenItIsCreatedAnewWhileIdle(ProducerKind kind) throws Exception {
        // given sequences that the new topic's leader does not know
        String topic = topic("recreated-idle", kind, 1);
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "batch.size", 300)) {
            for (long value = 0; value < 20; value++) {
                send(producer, topic, value);
            }
            producer.flush();

            // when
            recreate(topic);
            List<Future<RecordMetadata>> futures = new ArrayList<>();
            for (long value = 100; value < 300; value++) {
                futures.add(send(producer, topic, value));
            }
            producer.flush();

            // then
            for (int i = 0; i < futures.size(); i++) {
                assertThat(futures.get(i).get().offset()).isEqualTo(i);
            }
        }
        assertThat(values(topic)).isEqualTo(LongStream.range(100, 300).boxed().toList());
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldKeepOrderAndLoseNothingAcknowledgedWhenATopicIsCreatedAnewUnderLoad(ProducerKind kind) throws Exception {
        // given
        String topic = topic("recreated-busy", kind, 1);
        List<Future<RecordMetadata>> futures = new ArrayList<>();
        Semaphore window = new Semaphore(500);
        AtomicBoolean enough = new AtomicBoolean();
        CountDownLatch flowing = new CountDownLatch(2_000);
        CountDownLatch flowingAgain = new CountDownLatch(2_000);
        AtomicBoolean recreated = new AtomicBoolean();
        long[] firstAfter = {Long.MAX_VALUE};
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "batch.size", 1000)) {
            Thread sender = new Thread(() -> {
                for (long value = 0; !enough.get(); value++) {
                    if (recreated.get()) {
                        firstAfter[0] = Math.min(firstAfter[0], value);
                    }
                    window.acquireUninterruptibly();
                    futures.add(producer.send(new ProducerRecord<>(topic, bytes(value)), (metadata, e) -> {
                        window.release();
                        (recreated.get() ? flowingAgain : flowing).countDown();
                    }));
                }
            });
            sender.start();
            assertThat(flowing.await(60, TimeUnit.SECONDS)).isTrue();

            // when
            recreate(topic);
            recreated.set(true);
            assertThat(flowingAgain.await(60, TimeUnit.SECONDS)).isTrue();
            enough.set(true);
            sender.join(60_000);
            producer.flush();
        }

        // then
        List<Long> read = values(topic);
        assertThat(read).isSorted();
        assertThat(new HashSet<>(read)).hasSameSizeAs(read);
        List<Long> acknowledgedAfter = new ArrayList<>();
        for (int value = (int) firstAfter[0]; value < futures.size(); value++) {
            assertThat(futures.get(value)).isDone();
            if (Tries.isAcknowledged(futures.get(value))) {
                acknowledgedAfter.add((long) value);
            }
        }
        assertThat(acknowledgedAfter).isNotEmpty();
        acknowledgedAfter.removeAll(new HashSet<>(read));
        assertThat(acknowledgedAfter).as("acknowledged but not there").isEmpty();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailInTimeWhenATopicIsDeletedAndGoOnWithOthersAndWithItOnceItIsBack(ProducerKind kind) throws Exception {
        // given
        String topic = topic("deleted", kind, 1);
        String other = topic("not-deleted", kind, 1);
        try (Producer<byte[], byte[]> producer = kind.create(
                cluster.clientConfig(),
                "max.block.ms",
                3_000,
                "request.timeout.ms",
                3_000,
                "delivery.timeout.ms",
                3_100,
                "metadata.max.age.ms",
                1_000)) {
            Tries.untilAcknowledged(producer, new ProducerRecord<>(topic, bytes(1)));

            // when
            cluster.admin().deleteTopics(List.of(topic)).all().get();
            Await.until("the topic is gone", PATIENCE, () -> cluster.leader(topic, 0) < 0);

            // then
            assertThatThrownBy(() -> send(producer, topic, 2).get(60, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(TimeoutException.class);
            assertThat(send(producer, other, 3).get(60, TimeUnit.SECONDS).offset())
                    .isZero();

            cluster.createTopic(topic, 1, 1, Map.of());
            Await.until("the topic works again", PATIENCE, () -> Tries.isAcknowledged(send(producer, topic, 4)));
        }
        assertThat(values(topic)).containsOnly(4L);
        assertThat(values(other)).containsExactly(3L);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldSendToPartitionsAddedLater(ProducerKind kind) throws Exception {
        String topic = topic("grown", kind, 1);
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "metadata.max.age.ms", 60_000)) {
            send(producer, topic, 1).get();

            cluster.admin()
                    .createPartitions(Map.of(topic, NewPartitions.increaseTo(3)))
                    .all()
                    .get();
            RecordMetadata told = producer.send(new ProducerRecord<>(topic, 2, null, bytes(2)))
                    .get();

            assertThat(told.partition()).isEqualTo(2);
            assertThat(producer.partitionsFor(topic)).hasSize(3);
        }
    }

    private static void recreate(String topic) throws Exception {
        cluster.admin().deleteTopics(List.of(topic)).all().get();
        cluster.createTopic(topic, 1, 1, Map.of());
    }

    private static Future<RecordMetadata> send(Producer<byte[], byte[]> producer, String topic, long value) {
        return producer.send(new ProducerRecord<>(topic, bytes(value)));
    }

    private static byte[] bytes(long value) {
        return ByteBuffer.allocate(50).putLong(value).array();
    }

    private static List<Long> values(String topic) {
        return TopicContents.read(cluster.clientConfig(), topic).stream()
                .map(record -> ByteBuffer.wrap(record.value()).getLong())
                .toList();
    }
}
