package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.testkit.Await;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Records that no broker takes within {@code delivery.timeout.ms}, and what becomes of their batches. */
class ExpiryIT extends SemanticsFixture {
    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailRecordsAndGoOnWhenTheBrokerComesBackAfterDeliveryTimeout(ProducerKind kind) throws Exception {
        // given
        String topic = topic("expiring", kind, 1);
        try (Producer<byte[], byte[]> producer = kind.create(
                cluster.clientConfig(), "request.timeout.ms", 400, "delivery.timeout.ms", 1000, "linger.ms", 0)) {
            producer.send(record(topic)).get();
            cluster.pause(1);

            // when
            try {
                Future<RecordMetadata> expired = producer.send(record(topic));
                assertThatThrownBy(expired::get).hasCauseInstanceOf(TimeoutException.class);
            } finally {
                cluster.resume(1);
            }

            // then the partition goes on, as soon as the broker is quick enough again
            Await.until("a record is acknowledged", PATIENCE, () -> isAcknowledged(producer.send(record(topic))));
        }
    }

    private static boolean isAcknowledged(Future<RecordMetadata> future) {
        try {
            return future.get().hasOffset();
        } catch (ExecutionException expired) {
            return false;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
