package dev.millrace.testkit.oracle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.testkit.Clients;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The oracles judge topics of a real broker that the stock producer has written. */
class OraclesIT {
    private static final int RECORDS = 100_000;

    /** The same in each topic. Brokers delete records of 1970. */
    private static final long TIMESTAMP = System.currentTimeMillis();

    @AutoClose
    private static final KafkaCluster cluster = KafkaCluster.builder().start();

    @Test
    void shouldFindAllInOrderWhenStockProducerWasAcknowledged() {
        DeliveryOracle oracle = new DeliveryOracle(1);
        cluster.createTopic("a", 4, 1, Map.of());

        fill("a", 0, oracle);

        Verdict verdict = oracle.judge(cluster.clientConfig(), List.of("a"));
        assertThat(verdict.isClean()).as(verdict.toString()).isTrue();
        assertThat(verdict.acknowledged()).isEqualTo(RECORDS);
        assertThat(verdict.read()).isEqualTo(RECORDS);
    }

    @Test
    void shouldTellCopiesApartWhenReadFromBroker() {
        cluster.createTopic("b", 4, 1, Map.of());
        cluster.createTopic("copy-of-b", 4, 1, Map.of());
        cluster.createTopic("part-of-b", 4, 1, Map.of());
        DeliveryOracle unused = new DeliveryOracle(1);
        fill("b", 0, unused);
        fill("copy-of-b", 0, unused);
        fill("part-of-b", 4, unused);
        AtomicLong progress = new AtomicLong();

        TopicDigest source = TopicDigest.read(cluster.clientConfig(), "b", progress::set);

        assertThat(progress).hasValue(RECORDS);
        assertThat(source.compare(TopicDigest.read(cluster.clientConfig(), "copy-of-b")))
                .hasToString("100,000 records, all there, in order");
        assertThat(source.compare(TopicDigest.read(cluster.clientConfig(), "part-of-b"))
                        .lost())
                .isEqualTo(4);
    }

    @Test
    void shouldReadToTheEndWhenItIsMarkerOfTransaction() throws Exception {
        cluster.createTopic("c", 1, 1, Map.of());
        Map<String, Object> config = cluster.clientConfig();
        config.put("transactional.id", "c");
        try (Producer<byte[], byte[]> producer = Clients.bytesProducer(config)) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("c", new byte[10])).get();
            producer.commitTransaction();
        }

        assertThat(TopicDigest.read(cluster.clientConfig(), "c").records()).isEqualTo(1);
    }

    @Test
    void shouldSayWhichTopicIsMissingWhenThereIsNone() {
        assertThatThrownBy(() -> TopicDigest.read(cluster.clientConfig(), "none"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("There is no topic none");
    }

    /** Sends the same stamps to every topic, from the given sequence on. */
    private static void fill(String topic, int first, DeliveryOracle oracle) {
        Map<String, Object> config = cluster.clientConfig();
        // otherwise it may never recover in a new topic (KAFKA-15591)
        config.put("max.in.flight.requests.per.connection", 1);
        try (Producer<byte[], byte[]> producer = Clients.bytesProducer(config)) {
            for (int i = first; i < RECORDS; i++) {
                Stamp stamp = new Stamp(1, 0, topic.substring(topic.length() - 1), i % 4, i);
                var unused = producer.send(
                        new ProducerRecord<>(topic, i % 4, TIMESTAMP, null, stamp.encode(100)),
                        (metadata, exception) -> {
                            if (exception == null) {
                                oracle.onAcknowledged(stamp);
                            }
                        });
            }
        }
    }
}
