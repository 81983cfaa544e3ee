package dev.millrace.client.it.semantics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.support.BlockedCall;
import dev.millrace.client.support.JudgedSends;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.SingleBrokerFixture;
import dev.millrace.testkit.cluster.TopicContents;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code close}: what it still sends, what it fails, and which threads it wakes. */
@Tag("thorough")
class CloseSemanticsIT extends SingleBrokerFixture {
    private static final int VALUE_SIZE = 70;

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldRefuseANegativeTimeout(ProducerKind kind) {
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig())) {
            assertThatThrownBy(() -> producer.close(Duration.ofMillis(-1)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldBeHarmlessWhenClosedAgain(ProducerKind kind) {
        Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig());
        producer.close();

        producer.close(Duration.ZERO);
        producer.close();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldSendWhatLingersWhenClosedWithTime(ProducerKind kind) throws Exception {
        String topic = topic("lingering", kind, 1);
        Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "linger.ms", 60_000);
        JudgedSends sends = new JudgedSends(producer, topic);
        sends.send(VALUE_SIZE);

        producer.close(PATIENCE);

        sends.assertAllThere(cluster.clientConfig());
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailWhatIsLeftWhenClosedWithoutTime(ProducerKind kind) throws Exception {
        // given records that linger
        String topic = topic("left", kind, 1);
        Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "linger.ms", 60_000);
        Future<RecordMetadata> future = producer.send(record(topic));

        // when
        producer.close(Duration.ZERO);

        // then
        assertThatThrownBy(() -> future.get(0, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(KafkaException.class)
                .hasMessageContaining("closed forcefully");
        assertThat(TopicContents.read(cluster.clientConfig(), topic)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailWhatIsInFlightWhenTimeRunsOut(ProducerKind kind) throws Exception {
        // given a broker that does not answer
        String topic = topic("in-flight", kind, 1);
        Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig());
        producer.send(record(topic)).get();
        AtomicInteger callbacks = new AtomicInteger();
        Future<RecordMetadata> future;
        cluster.pause(1);
        try {
            future = producer.send(record(topic), (m, e) -> callbacks.incrementAndGet());

            // when
            producer.close(Duration.ofMillis(300));
        } finally {
            cluster.resume(1);
        }

        // then
        assertThatThrownBy(() -> future.get(0, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(KafkaException.class)
                .hasMessageContaining("closed forcefully");
        assertThat(callbacks).hasValue(1);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldWakeAThreadThatWaitsForATopic(ProducerKind kind) throws Exception {
        // given
        Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig());
        BlockedCall blocked = BlockedCall.of(() -> producer.send(record("never-there")));

        // when
        producer.close(PATIENCE);

        // then
        assertThat(blocked.thrown()).isInstanceOf(KafkaException.class).hasMessageContaining("closed");
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldWakeAThreadThatWaitsForMemory(ProducerKind kind) throws Exception {
        // given memory for two batches, both in use, and a broker that does not answer
        String topic = topic("close-memory", kind, 1);
        Producer<byte[], byte[]> producer =
                kind.create(cluster.clientConfig(), "buffer.memory", 40_000L, "batch.size", 20_000);
        producer.send(record(topic)).get();
        cluster.pause(1);
        try {
            producer.send(record(topic, 15_000));
            producer.send(record(topic, 15_000));
            BlockedCall blocked = BlockedCall.of(() -> producer.send(record(topic, 15_000)));

            // when
            producer.close(Duration.ofMillis(300));

            // then
            assertThat(blocked.thrown()).isInstanceOf(KafkaException.class).hasMessageContaining("closed");
        } finally {
            cluster.resume(1);
        }
    }

    /** KAFKA-4235, KAFKA-6897, KAFKA-12841: a record that is sent during {@code close} ends exactly once. */
    @ParameterizedTest
    @CsvSource({"MILLRACE, 0", "STOCK, 0", "MILLRACE, 30000", "STOCK, 30000"})
    void shouldEndEveryRecordExactlyOnceWhenManySendWhileItCloses(ProducerKind kind, int timeoutMs) throws Exception {
        String topicPrefix = "close-race-" + timeoutMs + "-";
        int rounds = 10;
        int senders = 4;
        for (int round = 0; round < rounds; round++) {
            // given
            String topic = topic(topicPrefix + round, kind, 1);
            Producer<byte[], byte[]> producer =
                    kind.create(cluster.clientConfig(), "batch.size", 500, "buffer.memory", 50_000L);
            JudgedSends sends = new JudgedSends(producer, topic);
            sends.send(VALUE_SIZE).get();
            List<CloseRaceSender> threads = new ArrayList<>();
            for (int i = 1; i <= senders; i++) {
                threads.add(new CloseRaceSender(sends, i));
            }
            threads.forEach(Thread::start);
            for (CloseRaceSender thread : threads) {
                thread.hasSent.await();
            }

            // when
            producer.close(Duration.ofMillis(timeoutMs));

            // then no thread blocks, each record has had one callback, and the acknowledged ones are there
            for (CloseRaceSender thread : threads) {
                thread.join(PATIENCE.toMillis());
                assertThat(thread.isAlive()).isFalse();
                assertThat(thread.thrown).hasMessageContaining("closed");
            }
            if (timeoutMs > 0) {
                sends.assertAllThere(cluster.clientConfig());
            } else {
                sends.assertAsTold(cluster.clientConfig());
            }
        }
    }

    /** Sends until the producer throws. */
    private static final class CloseRaceSender extends Thread {
        private final JudgedSends sends;
        private final int number;
        private final CountDownLatch hasSent = new CountDownLatch(100);
        private RuntimeException thrown;

        CloseRaceSender(JudgedSends sends, int number) {
            this.sends = sends;
            this.number = number;
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                while (true) {
                    sends.send(number, null, null, VALUE_SIZE, (metadata, error) -> {});
                    hasSent.countDown();
                }
            } catch (IllegalStateException | KafkaException closed) {
                thrown = closed;
            }
        }
    }
}
