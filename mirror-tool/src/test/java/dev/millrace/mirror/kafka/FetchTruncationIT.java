package dev.millrace.mirror.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.fetch.Fetcher;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A source that loses records which were fetched already. */
@Tag("thorough")
class FetchTruncationIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final TopicPartition PARTITION = new TopicPartition("truncated", 0);

    @Test
    void shouldGoBackToWhereTheLogWasTruncatedByAnUncleanElectionAndTellIt() throws Exception {
        try (KafkaCluster cluster = KafkaCluster.builder().brokers(3).start()) {
            cluster.createTopic(
                    PARTITION.topic(),
                    Map.of(0, List.of(1, 2)),
                    Map.of("unclean.leader.election.enable", "true", "min.insync.replicas", "1"));
            CollectedBatches collected = new CollectedBatches(partition -> false);
            Map<String, Object> config = cluster.clientConfig();
            config.put("auto.offset.reset", "earliest");
            config.put("client.id", "fetcher");
            try (Fetcher fetcher = SourceFetchers.create(config, collected)) {
                fetcher.start();
                fetcher.assign(PARTITION, 0, Optional.empty());
                send(cluster, 10);
                cluster.stop(2);
                send(cluster, 20);
                await("all is fetched", collected, 30);

                cluster.kill(1);
                cluster.restart(2);
                Await.until("broker 2 leads", PATIENCE, () -> cluster.leader(PARTITION.topic(), 0) == 2);
                send(cluster, 5);

                await("what the new leader has is fetched", collected, 15);
                assertThat(collected.resets()).hasSize(1);
                assertThat(collected.resets().get(0))
                        .startsWith("truncated-0 30 10 ")
                        .contains("truncated");
                assertThat(collected.errors()).isEmpty();
                assertThat(collected.failures()).isEmpty();
            }
        }
    }

    private static void await(String what, CollectedBatches collected, long end) {
        Await.until(what, PATIENCE, () -> collected.end(PARTITION) == end);
    }

    private static void send(KafkaCluster cluster, int records) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(cluster.clientConfig(), new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int i = 0; i < records; i++) {
                producer.send(new ProducerRecord<>(PARTITION.topic(), 0, null, new byte[100]))
                        .get();
            }
        }
    }
}
