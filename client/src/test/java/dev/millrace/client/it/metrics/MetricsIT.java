package dev.millrace.client.it.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.Tries;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The stock producer's metrics: the same names, groups and tags, and the same values after the same load. */
class MetricsIT {
    private static final int RECORDS = 3000;
    private static final int PARTITIONS = 3;
    private static final String CLIENT_ID = "metrics-it";

    /**
     * Kafka replaced them in 3.1 by metrics in nanoseconds, which both producers have, and removed them in 4.0; an
     * application with 3.9 does without.
     */
    private static final Set<String> REMOVED_IN_4_0 =
            Set.of("bufferpool-wait-time-total", "io-waittime-total", "iotime-total");

    /** Of KIP-939. The classes that Millrace carries have it; with an older kafka-clients it is always 0. */
    private static final String SINCE_4_1 = "txn-prepare-time-ns-total";

    @AutoClose
    private static KafkaCluster cluster;

    @BeforeAll
    static void start() {
        cluster = KafkaCluster.builder().start();
        // Not plainly: the stock producer may never recover in a topic that is not served yet (KAFKA-15591).
        cluster.createServedTopic("load", PARTITIONS, 1, Map.of());
    }

    @Test
    void shouldHaveEveryMetricOfTheStockProducerAndItsOwnInOneGroup() throws Exception {
        // given both after the same load
        Set<String> stock;
        Set<String> ours;
        try (Producer<byte[], byte[]> producer = loaded(ProducerKind.STOCK)) {
            stock = namesOf(producer);
        }
        try (Producer<byte[], byte[]> producer = loaded(ProducerKind.MILLRACE)) {
            ours = namesOf(producer);
        }

        // then
        assertThat(stock).as("the reference").hasSizeGreaterThan(100);
        stock.removeIf(name -> REMOVED_IN_4_0.stream().anyMatch(removed -> name.contains("/" + removed + "{")));
        assertThat(ours).containsAll(stock);
        ours.removeAll(stock);
        ours.removeIf(name -> name.contains("/" + SINCE_4_1 + "{"));
        assertThat(ours).isNotEmpty().allMatch(name -> name.startsWith("millrace-metrics/"));
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldCountWhatWasSentAndRefused(ProducerKind kind) throws Exception {
        try (Producer<byte[], byte[]> producer = loaded(kind)) {
            Await.until(
                    "all memory is free again",
                    Duration.ofSeconds(20),
                    () -> valuesOf(producer, "producer-metrics", Map.of()).get("buffer-available-bytes") == 33_554_432);
            Map<String, Double> client = valuesOf(producer, "producer-metrics", Map.of());
            Map<String, Double> topic = valuesOf(producer, "producer-topic-metrics", Map.of("topic", "load"));
            Map<String, Double> node = valuesOf(producer, "producer-node-metrics", Map.of("node-id", "node-1"));

            assertThat(client).containsEntry("record-send-total", (double) RECORDS);
            assertThat(topic).containsEntry("record-send-total", (double) RECORDS);
            assertThat(client).containsEntry("record-error-total", 1.0); // the record that is too large
            assertThat(topic).containsEntry("record-error-total", 0.0);
            assertThat(client).containsEntry("record-retry-total", 0.0);
            assertThat(client).containsEntry("batch-split-total", 0.0);
            assertThat(client).containsEntry("waiting-threads", 0.0);
            assertThat(client).containsEntry("requests-in-flight", 0.0);
            assertThat(client).containsEntry("buffer-total-bytes", 33_554_432.0);
            assertThat(client).containsEntry("buffer-exhausted-total", 0.0);
            assertThat(client).containsEntry("bufferpool-wait-time-ns-total", 0.0);
            assertThat(client).containsEntry("produce-throttle-time-max", 0.0);
            assertThat(client).containsEntry("txn-commit-time-ns-total", 0.0);
            assertThat(client.get("record-size-max")).isEqualTo(61 + 21 + 1 + 2 + 100 + 1.0);
            assertThat(client.get("record-size-avg")).isEqualTo(client.get("record-size-max"));
            assertThat(client.get("compression-rate-avg")).isStrictlyBetween(0.01, 0.5);
            assertThat(topic.get("compression-rate")).isCloseTo(client.get("compression-rate-avg"), within(0.1));
            assertThat(client.get("batch-size-max")).isBetween(client.get("batch-size-avg"), 16384.0);
            assertThat(topic.get("byte-total")).isBetween(3.0 * 61, RECORDS * 50.0);
            assertThat(client.get("records-per-request-avg")).isBetween(1.0, (double) RECORDS);
            assertThat(client.get("record-queue-time-avg")).isBetween(0.0, 60_000.0);
            assertThat(client.get("request-latency-max")).isBetween(0.0, 60_000.0);
            assertThat(node.get("request-latency-max")).isEqualTo(client.get("request-latency-max"));
            assertThat(node.get("outgoing-byte-total")).isGreaterThan(topic.get("byte-total"));
            assertThat(client.get("metadata-age")).isBetween(0.0, 60.0);
            assertThat(client.get("metadata-wait-time-ns-total")).isPositive();
            assertThat(client.get("flush-time-ns-total")).isPositive();
            assertThat(client.get("connection-count")).isPositive();
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldCountRetriesAndTheFailureThatEndsThem(ProducerKind kind) throws Exception {
        // given a broker that stops answering
        try (Producer<byte[], byte[]> producer = kind.create(
                cluster.clientConfig(), "request.timeout.ms", 1000, "delivery.timeout.ms", 4000, "linger.ms", 0)) {
            Tries.untilAcknowledged(producer, new ProducerRecord<>("load", 0, null, new byte[10]));
            Map<String, Map<String, Double>> before = countsOf(producer);
            cluster.pause(1);

            // when
            try {
                Future<RecordMetadata> future = producer.send(new ProducerRecord<>("load", 0, null, new byte[10]));
                assertThatThrownBy(future::get).hasCauseInstanceOf(TimeoutException.class);
            } finally {
                cluster.resume(1);
            }

            // then
            countsOf(producer).forEach((group, after) -> {
                for (String total : List.of("record-send-total", "record-retry-total", "record-error-total")) {
                    assertThat(after.get(total) - before.get(group).get(total))
                            .as("%s of %s", total, group)
                            .isEqualTo(1);
                }
            });
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldCountWaitsForMemory(ProducerKind kind) throws Exception {
        // given a broker that does not answer, and memory for three batches
        try (Producer<byte[], byte[]> producer = kind.create(
                cluster.clientConfig(), "buffer.memory", 48_000L, "batch.size", 16_000, "max.block.ms", 200)) {
            Tries.untilKnown(producer, "load");
            producer.send(new ProducerRecord<>("load", 0, null, new byte[10])).get();
            Future<RecordMetadata> refused;
            cluster.pause(1);
            try {
                for (int i = 0; i < 3; i++) {
                    producer.send(new ProducerRecord<>("load", 0, null, new byte[15_000]));
                }

                // when
                refused = producer.send(new ProducerRecord<>("load", 0, null, new byte[15_000]));
            } finally {
                cluster.resume(1);
            }

            // then
            assertThat(refused).isDone();
            Map<String, Double> values = valuesOf(producer, "producer-metrics", Map.of());
            assertThat(values).containsEntry("buffer-exhausted-total", 1.0);
            assertThat(values).containsEntry("record-error-total", 1.0);
            assertThat(values.get("bufferpool-wait-time-ns-total")).isBetween(200e6, 60e9);
            assertThat(values.get("bufferpool-wait-ratio")).isPositive();
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldTellHowLongTransactionsTake(ProducerKind kind) {
        try (Producer<byte[], byte[]> producer = kind.create(
                cluster.clientConfig(),
                "transactional.id",
                "timed-" + kind.name().toLowerCase(Locale.ROOT))) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("load", 0, null, new byte[10]));
            producer.commitTransaction();
            producer.beginTransaction();
            producer.abortTransaction();

            Map<String, Double> values = valuesOf(producer, "producer-metrics", Map.of());
            for (String call : List.of("init", "begin", "commit", "abort")) {
                assertThat(values.get("txn-" + call + "-time-ns-total"))
                        .as(call)
                        .isPositive();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldTellOfThrottling(ProducerKind kind) throws Exception {
        // given a quota that one request exceeds
        String clientId = "throttled-" + kind.name().toLowerCase(Locale.ROOT);
        ClientQuotaEntity client = new ClientQuotaEntity(Map.of(ClientQuotaEntity.CLIENT_ID, clientId));
        ClientQuotaAlteration.Op limit = new ClientQuotaAlteration.Op("producer_byte_rate", 2_000.0);
        cluster.admin()
                .alterClientQuotas(List.of(new ClientQuotaAlteration(client, List.of(limit))))
                .all()
                .get();

        Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "client.id", clientId);
        try {
            // when, then: as soon as the broker knows the quota
            Await.until("a request is throttled", Duration.ofSeconds(20), () -> {
                boolean written = Tries.isAcknowledged(producer.send(new ProducerRecord<>("load", new byte[50_000])));
                Double throttled =
                        valuesOf(producer, "producer-metrics", Map.of()).get("produce-throttle-time-max");
                return written && throttled > 0;
            });
        } finally {
            producer.close(Duration.ZERO);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldShowEverythingInJmxAndNothingAfterClose(ProducerKind kind) throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName pattern = new ObjectName("kafka.producer:*");
        // A stock producer of another test, interrupted in close(), may have left beans behind.
        Set<ObjectName> before = server.queryNames(pattern, null);
        Producer<byte[], byte[]> producer = loaded(kind);
        Set<String> inJmx = attributes(server, pattern);
        Set<String> names = namesOf(producer);

        producer.close();

        names.removeIf(name -> name.startsWith("kafka-metrics-count/"));
        assertThat(inJmx).containsAll(names);
        assertThat(server.queryNames(pattern, null)).isSubsetOf(before);
    }

    @Test
    void shouldTellWhyBatchesWereSealed() throws Exception {
        try (Producer<byte[], byte[]> producer =
                ProducerKind.MILLRACE.create(cluster.clientConfig(), "batch.size", 1000, "linger.ms", 60_000)) {
            for (int i = 0; i < 30; i++) {
                producer.send(new ProducerRecord<>("load", 0, null, new byte[100]));
            }
            producer.flush();
            Map<String, Double> values = valuesOf(producer, "millrace-metrics", Map.of());

            assertThat(values.get("batches-sealed-full-total")).isEqualTo(3.0);
            assertThat(values.get("batches-sealed-flush-total")).isEqualTo(1.0);
            assertThat(values.get("batches-sealed-linger-total")).isZero();
            assertThat(values.get("batches-sealed-memory-total")).isZero();
            assertThat(values.get("batches-sealed-close-total")).isZero();
            assertThat(values.get("batches-sealed-failure-total")).isZero();
            assertThat(values.get("claims-lost-total")).isZero();
            assertThat(values.get("batches-waited-on-total")).isZero();
            assertThat(values.get("cluster-image-version")).isPositive();
            assertThat(values.get("memory-waiters")).isZero();
            assertThat(values.get("metadata-waiters")).isZero();
        }
    }

    private static Map<String, Map<String, Double>> countsOf(Producer<?, ?> producer) {
        return Map.of(
                "producer", valuesOf(producer, "producer-metrics", Map.of()),
                "topic", valuesOf(producer, "producer-topic-metrics", Map.of("topic", "load")));
    }

    /** A producer that has sent {@code RECORDS} records of 100 bytes, was flushed twice, and has refused one record. */
    private static Producer<byte[], byte[]> loaded(ProducerKind kind) throws Exception {
        Producer<byte[], byte[]> producer = kind.create(
                cluster.clientConfig(), "client.id", CLIENT_ID, "compression.type", "lz4", "max.request.size", 100_000);
        List<Future<RecordMetadata>> futures = new ArrayList<>();
        for (int i = 0; i < RECORDS; i++) {
            futures.add(producer.send(new ProducerRecord<>("load", i % PARTITIONS, null, new byte[100])));
        }
        producer.flush();
        for (Future<RecordMetadata> future : futures) {
            future.get();
        }
        assertThat(producer.send(new ProducerRecord<>("load", 0, null, new byte[200_000])))
                .isDone();
        return producer;
    }

    private static Set<String> namesOf(Producer<?, ?> producer) {
        return producer.metrics().keySet().stream()
                .map(MetricsIT::nameOf)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String nameOf(MetricName name) {
        return name.group() + "/" + name.name() + new TreeMap<>(name.tags());
    }

    /** The values of a group of metrics by name; only those that have exactly these tags and the client's id. */
    static Map<String, Double> valuesOf(Producer<?, ?> producer, String group, Map<String, String> tags) {
        Map<String, Double> values = new TreeMap<>();
        for (Map.Entry<MetricName, ? extends Metric> entry : producer.metrics().entrySet()) {
            Map<String, String> others = new TreeMap<>(entry.getKey().tags());
            others.remove("client-id");
            if (entry.getKey().group().equals(group) && others.equals(tags)) {
                if (entry.getValue().metricValue() instanceof Number number) {
                    values.put(entry.getKey().name(), number.doubleValue());
                }
            }
        }
        return values;
    }

    private static Set<String> attributes(MBeanServer server, ObjectName pattern) throws JMException {
        Set<String> found = new TreeSet<>();
        for (ObjectName bean : server.queryNames(pattern, null)) {
            Map<String, String> tags = new TreeMap<>(bean.getKeyPropertyList());
            String group = tags.remove("type");
            for (MBeanAttributeInfo attribute : server.getMBeanInfo(bean).getAttributes()) {
                found.add(group + "/" + attribute.getName() + tags);
            }
        }
        return found;
    }
}
