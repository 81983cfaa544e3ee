package dev.millrace.client.it.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.support.Deadlines;
import dev.millrace.client.support.Leaders;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.Tries;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.TopicContents;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Topics are deleted, created again with another id and another leader, and given more partitions while a producer uses
 * them.
 */
@Tag("thorough")
class TopicLifecycleIT {
    private static final Object[] SETTINGS = {"request.timeout.ms", 3_000};
    private static final Duration RECOVERY = Deadlines.recovery(SETTINGS);

    @AutoClose
    private static final KafkaCluster cluster = KafkaCluster.builder()
            .brokers(3)
            // Otherwise producers, which go on asking for a topic that a test deletes, create it again.
            .setting("auto.create.topics.enable", "false")
            .start();

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldSendToTheNewTopicWhenItIsCreatedAnewWhileIdle(ProducerKind kind) throws Exception {
        // given sequences that the leader of the new topic does not know
        String topic = topic("recreated-idle", kind);
        try (Producer<byte[], byte[]> producer =
                kind.create(ProducerKind.with(cluster.clientConfig(), SETTINGS), "batch.size", 300)) {
            for (long value = 0; value < 20; value++) {
                send(producer, topic, value);
            }
            producer.flush();

            // when
            recreate(kind, topic);
            List<Future<RecordMetadata>> futures = new ArrayList<>();
            for (long value = 100; value < 300; value++) {
                futures.add(send(producer, topic, value));
            }

            // then
            assertThat(get(futures.get(futures.size() - 1), RECOVERY).offset()).isEqualTo(futures.size() - 1);
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
        String topic = topic("recreated-busy", kind);
        List<Future<RecordMetadata>> futures = new ArrayList<>();
        Semaphore window = new Semaphore(500);
        AtomicBoolean enough = new AtomicBoolean();
        CountDownLatch flowing = new CountDownLatch(2_000);
        CountDownLatch flowingAgain = new CountDownLatch(2_000);
        AtomicBoolean recreated = new AtomicBoolean();
        long[] firstAfter = {Long.MAX_VALUE};
        try (Producer<byte[], byte[]> producer =
                kind.create(ProducerKind.with(cluster.clientConfig(), SETTINGS), "batch.size", 1000)) {
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
            assertThat(flowing.await(RECOVERY.toMillis(), TimeUnit.MILLISECONDS))
                    .isTrue();

            // when
            recreate(kind, topic);
            recreated.set(true);
            assertThat(flowingAgain.await(RECOVERY.toMillis(), TimeUnit.MILLISECONDS))
                    .isTrue();
            enough.set(true);
            sender.join(RECOVERY.toMillis());
            assertThat(sender.isAlive()).isFalse();
            producer.close(RECOVERY);
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
        String topic = topic("deleted", kind);
        String other = topic("not-deleted", kind);
        Object[] settings = {
            "max.block.ms",
            3_000,
            "request.timeout.ms",
            3_000,
            "delivery.timeout.ms",
            3_100,
            "metadata.max.age.ms",
            1_000
        };
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), settings)) {
            Tries.untilAcknowledged(producer, new ProducerRecord<>(topic, bytes(1)));

            // when
            cluster.admin().deleteTopics(List.of(topic)).all().get();
            Await.until("the topic is gone", Duration.ofSeconds(60), () -> cluster.leader(topic, 0) < 0);

            // then
            assertThatThrownBy(() -> get(send(producer, topic, 2), Deadlines.outcome(settings)))
                    .hasCauseInstanceOf(TimeoutException.class);
            assertThat(get(send(producer, other, 3), Deadlines.outcome(settings))
                            .offset())
                    .isZero();

            create(kind, topic, 2);
            Await.until(
                    "the topic works again",
                    Deadlines.recovery(settings),
                    () -> Tries.isAcknowledged(send(producer, topic, 4)));
        }
        assertThat(values(topic)).containsOnly(4L);
        assertThat(values(other)).containsExactly(3L);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldSendToPartitionsAddedLater(ProducerKind kind) throws Exception {
        String topic = topic("grown", kind);
        try (Producer<byte[], byte[]> producer =
                kind.create(ProducerKind.with(cluster.clientConfig(), SETTINGS), "metadata.max.age.ms", 600_000)) {
            get(send(producer, topic, 1), RECOVERY);

            cluster.growTopic(topic, 3);
            RecordMetadata told = get(producer.send(new ProducerRecord<>(topic, 2, null, bytes(2))), RECOVERY);

            assertThat(told.partition()).isEqualTo(2);
            assertThat(producer.partitionsFor(topic)).hasSize(3);
        }
    }

    private static void recreate(ProducerKind kind, String topic) throws Exception {
        cluster.admin().deleteTopics(List.of(topic)).all().get();
        create(kind, topic, 2);
    }

    private static RecordMetadata get(Future<RecordMetadata> future, Duration within) throws Exception {
        return future.get(within.toMillis(), TimeUnit.MILLISECONDS);
    }

    private static String topic(String name, ProducerKind kind) {
        String topic = name + "-" + kind.name().toLowerCase(Locale.ROOT);
        create(kind, topic, 1);
        return topic;
    }

    /** Creates a topic of one partition, with another leader than the deleted topic of the same name had. */
    private static void create(ProducerKind kind, String topic, int leader) {
        Map<Integer, List<Integer>> replicas = Map.of(0, Leaders.from(leader));
        if (kind == ProducerKind.STOCK) {
            cluster.createServedTopic(topic, replicas, Map.of()); // or it may never recover (KAFKA-15591)
        } else {
            cluster.createTopic(topic, replicas, Map.of());
        }
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
