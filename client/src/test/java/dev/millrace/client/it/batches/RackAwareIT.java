package dev.millrace.client.it.batches;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.support.ProducerKind;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the stock producer does from kafka-clients 4.4 on (KIP-1123), with any version. */
@Tag("thorough")
class RackAwareIT {
    private static final String TOPIC = "rack-aware";

    @AutoClose
    private static KafkaCluster cluster;

    @BeforeAll
    static void start() {
        cluster = KafkaCluster.builder().brokers(3).start();
        cluster.createServedTopic(TOPIC, 6, 3, Map.of());
    }

    @Test
    void shouldSendToLeadersOfItsRackAndToAllOthersWhenItHasNone() throws Exception {
        int near = cluster.leader(TOPIC, 0);
        try (Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(
                cluster.clientConfig(), "client.rack", cluster.rack(near), "partitioner.rack.aware", "true")) {
            assertThat(leadersOfWhatIsSent(producer)).containsExactly(near);

            cluster.stop(near);

            Await.until(
                    "both others get records",
                    Duration.ofSeconds(60),
                    () -> leadersOfWhatIsSent(producer).size() == 2);
        }
    }

    private static Set<Integer> leadersOfWhatIsSent(Producer<byte[], byte[]> producer) {
        Set<Integer> partitions = ConcurrentHashMap.newKeySet();
        for (int i = 0; i < 500; i++) {
            var unused = producer.send(
                    new ProducerRecord<>(TOPIC, new byte[1_000]),
                    (metadata, failure) -> partitions.add(failure == null ? metadata.partition() : -1));
        }
        producer.flush();
        return partitions.stream()
                .map(partition -> cluster.leader(TOPIC, partition))
                .collect(Collectors.toSet());
    }
}
