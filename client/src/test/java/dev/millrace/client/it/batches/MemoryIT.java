package dev.millrace.client.it.batches;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.SingleBrokerFixture;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.TopicContents;
import dev.millrace.testkit.stub.StubBroker;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.Test;

/** Memory follows use: many partitions with few records each fit, even if {@code batch.size} is large. */
class MemoryIT {
    @Test
    void shouldBufferARecordOfEachOfTenThousandPartitionsInSixtyFourMegabytes() {
        try (StubBroker broker = StubBroker.builder().topic("wide", 10_000).start()) {
            // a buffer of batch.size for each partition would take 160 MB
            bufferOneOfEach(Map.of("bootstrap.servers", broker.bootstrapServers()), "wide", 10_000, 64L << 20);
        }
    }

    @Test
    void shouldDeliverARecordOfEachOfManyPartitionsThroughLittleMemory() {
        try (KafkaCluster cluster = KafkaCluster.builder().start()) {
            cluster.createTopic("wide", 100, 1, Map.of());

            bufferOneOfEach(cluster.clientConfig(), "wide", 100, 1L << 19);

            List<ConsumerRecord<byte[], byte[]>> read = TopicContents.read(cluster.clientConfig(), "wide");
            assertThat(read).hasSize(100);
            for (ConsumerRecord<byte[], byte[]> record : read) {
                assertThat(ByteBuffer.wrap(record.value()).getInt()).isEqualTo(record.partition());
            }
        }
    }

    private static void bufferOneOfEach(Map<String, Object> client, String topic, int partitions, long memory) {
        try (Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(
                client, "buffer.memory", memory, "linger.ms", 80_000, "batch.size", 16_384)) {
            // when
            List<Future<RecordMetadata>> futures = new ArrayList<>();
            for (int p = 0; p < partitions; p++) {
                byte[] value = ByteBuffer.allocate(100).putInt(p).array();
                futures.add(producer.send(new ProducerRecord<>(topic, p, null, value)));
            }

            // then no thread has waited, and nothing was sent
            assertThat(SingleBrokerFixture.metric(producer, "bufferpool-wait-time-ns-total"))
                    .isZero();
            assertThat(SingleBrokerFixture.metric(producer, "record-send-total"))
                    .isZero();
            assertThat(SingleBrokerFixture.metric(producer, "buffer-available-bytes"))
                    .isGreaterThan(memory / 2.0);

            producer.flush();
            assertThat(futures).allMatch(Future::isDone);
            assertThat(SingleBrokerFixture.metric(producer, "record-error-total"))
                    .isZero();
            assertThat(SingleBrokerFixture.metric(producer, "buffer-available-bytes"))
                    .isEqualTo((double) memory);
        }
    }
}
