package dev.millrace.client.it.semantics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.support.BlockedCall;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.SingleBrokerFixture;
import dev.millrace.testkit.cluster.TopicContents;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.InterruptException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A thread is interrupted where the producer may block: the call throws, keeps the interrupt flag, and leaks nothing.
 */
class InterruptSemanticsIT extends SingleBrokerFixture {
    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldThrowAndKeepTheFlagWhenInterruptedWaitingForATopic(ProducerKind kind) throws Exception {
        String topic = "interrupted-" + kind;
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig())) {
            BlockedCall blocked = BlockedCall.of(() -> producer.send(record(topic)));

            blocked.interrupt();

            assertThat(blocked.thrown()).isInstanceOf(InterruptException.class);
            assertThat(blocked.wasInterruptedAtEnd()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldThrowAndLeakNoMemoryWhenInterruptedWaitingForMemory(ProducerKind kind) throws Exception {
        // given a broker that does not answer, and memory for three batches that are all in use
        String topic = topic("interrupted-memory", kind, 1);
        try (Producer<byte[], byte[]> producer =
                kind.create(cluster.clientConfig(), "buffer.memory", 60_000L, "batch.size", 20_000)) {
            producer.send(record(topic)).get();
            List<Future<RecordMetadata>> accepted = new ArrayList<>();
            cluster.pause(1);
            try {
                for (int i = 0; i < 3; i++) {
                    accepted.add(producer.send(record(topic, 15_000)));
                }
                BlockedCall blocked = BlockedCall.of(() -> producer.send(record(topic, 15_000)));

                // when
                blocked.interrupt();

                // then
                assertThat(blocked.thrown()).isInstanceOf(InterruptException.class);
                assertThat(blocked.wasInterruptedAtEnd()).isTrue();
            } finally {
                cluster.resume(1);
            }
            for (Future<RecordMetadata> future : accepted) {
                assertThat(future.get().hasOffset()).isTrue();
            }
            // then one record gets all of the memory, and no waiter is in the queue before it
            assertThat(producer.send(record(topic, 59_000)).get().offset()).isEqualTo(4);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldThrowAndKeepTheFlagWhenInterruptedInFlush(ProducerKind kind) {
        String topic = topic("flush-interrupted", kind, 1);
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "linger.ms", 60_000)) {
            producer.send(record(topic));
            producer.flush();
            cluster.pause(1);
            try {
                producer.send(record(topic));
                Thread.currentThread().interrupt();

                assertThatThrownBy(producer::flush).isInstanceOf(InterruptException.class);
                assertThat(Thread.interrupted()).isTrue();
            } finally {
                cluster.resume(1);
            }
        }
        assertThat(TopicContents.read(cluster.clientConfig(), topic)).hasSize(2);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldThrowAndLeaveNoRecordWithoutOutcomeWhenInterruptedInClose(ProducerKind kind) throws Exception {
        // given a record that cannot be sent now
        String topic = topic("close-interrupted", kind, 1);
        Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig());
        producer.send(record(topic)).get();
        cluster.pause(1);
        try {
            Future<RecordMetadata> future = producer.send(record(topic));
            BlockedCall blocked = BlockedCall.of(() -> {
                producer.close(Duration.ofSeconds(60));
                return null;
            });

            // when
            blocked.interrupt();

            // then
            assertThat(blocked.thrown()).isInstanceOf(InterruptException.class);
            assertThat(blocked.wasInterruptedAtEnd()).isTrue();
            assertThat(future).failsWithin(PATIENCE);
        } finally {
            cluster.resume(1);
        }
    }
}
