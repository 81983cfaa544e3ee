package dev.millrace.client.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.delivery.DeliveryCallback;
import dev.millrace.client.delivery.DeliveryCertainty;
import dev.millrace.client.support.Deadlines;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.kafka.common.protocol.ApiKeys;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.cluster.TopicContents;
import dev.millrace.testkit.proxy.FaultProxy.Fault;
import dev.millrace.testkit.proxy.FaultProxy.Flow;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/**
 * Brokers forget producers by the timestamps of their records, and after a clean restart they remember the last batch of
 * a producer only. What is acknowledged is in the log once, in the order of sending, all the same.
 */
class ForgottenProducerIT {
    private static final Object[] SMALL = {"batch.size", 2_500, "linger.ms", 50, "request.timeout.ms", 3_000};
    private static final Duration PATIENCE = Deadlines.recovery(SMALL);
    private static final String EXPIRATION = "producer.id.expiration.ms";
    private static final String A_DAY = "86400000"; // Kafka's default
    private static final long DAYS_AGO =
            System.currentTimeMillis() - Duration.ofDays(3).toMillis();

    @AutoClose
    private static final KafkaCluster cluster = KafkaCluster.builder()
            .listeners(Listener.PROXIED)
            .setting("producer.id.expiration.check.interval.ms", "200") // by default ten minutes
            .start();

    @AfterEach
    void heal() throws Exception {
        cluster.proxy(1).setFlow(Flow.BOTH);
        setExpiration(A_DAY);
    }

    @Test
    void shouldWriteInOrderWhatIsRefusedAfterAPauseInWhichTheBrokerHasForgottenTheProducer() throws Exception {
        // given
        String topic = topic("forgotten-idle", Map.of("max.message.bytes", "1500"));
        setExpiration("1000");
        try (Producer<byte[], byte[]> producer = millrace()) {
            producer.send(record(topic, 0, System.currentTimeMillis(), 10)).get();
            awaitForgotten(topic);
            setExpiration(A_DAY); // on a busy machine it would forget the producer a second time, between two batches

            // when the first batch, of two records, is too large, and the second arrives with it, if it was sent
            cluster.proxy(1).setFlow(Flow.NOTHING);
            List<Future<RecordMetadata>> futures = new ArrayList<>();
            for (int i = 1; i <= 4; i++) {
                futures.add(producer.send(record(topic, i, System.currentTimeMillis(), i < 3 ? 900 : 1_400)));
            }
            Await.until("a request is on its way", PATIENCE, () -> requestsInFlight(producer) > 0);
            cluster.proxy(1).setFlow(Flow.BOTH);

            // then
            for (Future<RecordMetadata> future : futures) {
                assertThat(future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).hasOffset())
                        .isTrue();
            }
        }
        assertThat(read(topic)).containsExactly("0", "1", "2", "3", "4");
    }

    @Test
    void shouldNotWriteTwiceWhatHasOldTimestampsWhenItsAnswerIsLost() throws Exception {
        // given
        String topic = topic("forgotten-old", Map.of("retention.ms", "-1"));
        try (Producer<byte[], byte[]> producer =
                millrace("retry.backoff.ms", 2_000, "retry.backoff.max.ms", 2_000)) { // it is forgotten before
            producer.send(record(topic, 0, DAYS_AGO, 10)).get();
            awaitForgotten(topic);

            // when
            cluster.proxy(1).failNext(ApiKeys.PRODUCE, Fault.DROP_RESPONSE);
            List<DeliveryCertainty> told = Collections.synchronizedList(new ArrayList<>());
            Future<RecordMetadata> lost = producer.send(record(topic, 1, DAYS_AGO, 10), noteIn(told));
            boolean isAcknowledged = isAcknowledged(lost);

            // then
            assertThat(told)
                    .containsExactly(
                            isAcknowledged ? DeliveryCertainty.PERSISTED : DeliveryCertainty.POSSIBLY_PERSISTED);
            producer.send(record(topic, 2, DAYS_AGO, 10)).get();
        }
        assertThat(read(topic)).containsExactly("0", "1", "2");
    }

    @Test
    void shouldNotWriteTwiceWhatIsUnansweredWhenASoleReplicaRestartsCleanly() throws Exception {
        // given two batches that are in the log
        String topic = topic("restarted", Map.of());
        try (Producer<byte[], byte[]> producer = millrace("linger.ms", 0)) {
            producer.send(record(topic, 0, System.currentTimeMillis(), 10)).get();
            cluster.proxy(1).setFlow(Flow.REQUESTS_ONLY);
            List<Future<RecordMetadata>> futures = List.of(
                    producer.send(record(topic, 1, System.currentTimeMillis(), 2_000)),
                    producer.send(record(topic, 2, System.currentTimeMillis(), 2_000)));
            Await.until("both are in the log", PATIENCE, () -> end(topic) == 3);

            // when
            cluster.proxy(1).refuse();
            cluster.proxy(1).resetAll();
            cluster.stop(1);
            cluster.restart(1);
            cluster.proxy(1).accept();
            cluster.proxy(1).setFlow(Flow.BOTH);
            futures.forEach(ForgottenProducerIT::isAcknowledged);

            // then
            producer.send(record(topic, 3, System.currentTimeMillis(), 10)).get();
        }
        assertThat(read(topic)).containsExactly("0", "1", "2", "3");
    }

    private static Producer<byte[], byte[]> millrace(Object... more) {
        Object[] settings = new Object[SMALL.length + more.length];
        System.arraycopy(SMALL, 0, settings, 0, SMALL.length);
        System.arraycopy(more, 0, settings, SMALL.length, more.length);
        return ProducerKind.MILLRACE.create(cluster.clientConfig(Listener.PROXIED), settings);
    }

    private static Callback noteIn(List<DeliveryCertainty> told) {
        return (DeliveryCallback) (metadata, error, certainty) -> told.add(certainty);
    }

    private static ProducerRecord<byte[], byte[]> record(String topic, int number, long timestamp, int size) {
        byte[] value = String.format("%-" + size + "s", number).getBytes(StandardCharsets.UTF_8);
        return new ProducerRecord<>(topic, 0, timestamp, null, value);
    }

    private static boolean isAcknowledged(Future<RecordMetadata> future) {
        try {
            future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            return true;
        } catch (ExecutionException told) {
            return false;
        } catch (InterruptedException | java.util.concurrent.TimeoutException e) {
            throw new IllegalStateException("The record has no outcome", e);
        }
    }

    private static List<String> read(String topic) {
        return TopicContents.read(cluster.clientConfig(), topic).stream()
                .map(record -> new String(record.value(), StandardCharsets.UTF_8).strip())
                .toList();
    }

    private static String topic(String name, Map<String, String> configs) {
        cluster.createServedTopic(name, 1, 1, configs); // the first batch is not what is tested
        return name;
    }

    private static void awaitForgotten(String topic) {
        Await.until("the broker has forgotten the producer", PATIENCE, () -> !isRemembered(topic));
    }

    private static boolean isRemembered(String topic) {
        TopicPartition partition = new TopicPartition(topic, 0);
        return !cluster.admin()
                .describeProducers(List.of(partition))
                .partitionResult(partition)
                .thenApply(state -> state.activeProducers().isEmpty())
                .toCompletionStage()
                .toCompletableFuture()
                .join();
    }

    private static double requestsInFlight(Producer<byte[], byte[]> producer) {
        return producer.metrics().entrySet().stream()
                .filter(metric -> metric.getKey().name().equals("requests-in-flight"))
                .mapToDouble(metric -> (double) metric.getValue().metricValue())
                .sum();
    }

    private static long end(String topic) {
        return TopicContents.end(cluster.clientConfig(), topic, IsolationLevel.READ_UNCOMMITTED);
    }

    private static void setExpiration(String ms) throws InterruptedException, ExecutionException {
        ConfigResource allBrokers = new ConfigResource(ConfigResource.Type.BROKER, "");
        AlterConfigOp set = new AlterConfigOp(new ConfigEntry(EXPIRATION, ms), AlterConfigOp.OpType.SET);
        cluster.admin()
                .incrementalAlterConfigs(Map.of(allBrokers, List.of(set)))
                .all()
                .get();
    }
}
