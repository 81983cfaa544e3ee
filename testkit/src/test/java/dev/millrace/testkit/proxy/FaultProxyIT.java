package dev.millrace.testkit.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.kafka.common.protocol.ApiKeys;
import dev.millrace.testkit.Clients;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.proxy.FaultProxy.Fault;
import dev.millrace.testkit.proxy.FaultProxy.Flow;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.NetworkException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FaultProxyIT {
    private static KafkaCluster cluster;
    private static FaultProxy proxy;

    @BeforeAll
    static void start() {
        cluster = KafkaCluster.builder().listeners(Listener.PROXIED).start();
        proxy = cluster.proxy(1);
    }

    @AfterAll
    static void close() {
        cluster.close();
        assertThat(Thread.getAllStackTraces().keySet())
                .noneMatch(thread -> thread.getName().startsWith("fault-proxy"));
    }

    @ParameterizedTest
    @CsvSource({"RESET_BEFORE, 0", "RESET_WITHIN, 0", "DROP_RESPONSE, 1"})
    void shouldStrikeOnlyTheNextRequestOfItsKindBy(Fault fault, int written) throws Exception {
        String topic = "failed-" + fault;
        cluster.createTopic(topic, 1, 1, Map.of());
        try (Producer<String, String> producer = producer("retries", 0, "enable.idempotence", false)) {
            producer.partitionsFor(topic);
            CompletableFuture<Void> failed = proxy.failNext(ApiKeys.PRODUCE, fault);

            assertThatThrownBy(() ->
                            producer.send(new ProducerRecord<>(topic, "failed")).get())
                    .hasCauseInstanceOf(NetworkException.class);
            failed.get(20, TimeUnit.SECONDS);
            RecordMetadata next =
                    producer.send(new ProducerRecord<>(topic, "next")).get();

            assertThat(next.offset()).isEqualTo(written);
        }
    }

    @Test
    void shouldBreakTheConnectionWhenResetAfterTheRequest() throws Exception {
        cluster.createTopic("after", 1, 1, Map.of());
        try (Producer<String, String> producer = producer()) {
            CompletableFuture<Void> failed = proxy.failNext(ApiKeys.PRODUCE, Fault.RESET_AFTER);

            assertThat(producer.send(new ProducerRecord<>("after", "once"))
                            .get()
                            .hasOffset())
                    .isTrue();

            assertThat(failed).succeedsWithin(Duration.ofSeconds(20));
        }
        assertThat(Clients.consume(cluster.clientConfig(), "after", 1)).containsExactly("once");
    }

    @ParameterizedTest
    @CsvSource({"NOTHING", "REQUESTS_ONLY"})
    void shouldKeepWhatMayNotPass(Flow flow) throws Exception {
        String topic = "kept-" + flow;
        cluster.createTopic(topic, 1, 1, Map.of());
        try (Producer<String, String> producer = producer()) {
            producer.send(new ProducerRecord<>(topic, "before")).get();

            proxy.setFlow(flow);
            Future<RecordMetadata> sent = producer.send(new ProducerRecord<>(topic, "during"));

            assertThatThrownBy(() -> sent.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            if (flow == Flow.REQUESTS_ONLY) {
                assertThat(Clients.consume(cluster.clientConfig(), topic, 2)).contains("during");
            }
            proxy.setFlow(Flow.BOTH);
            assertThat(sent.get().offset()).isEqualTo(1);
        } finally {
            proxy.setFlow(Flow.BOTH);
        }
    }

    @Test
    void shouldNeverAnswerAgainWhenHalfOpen() throws Exception {
        cluster.createTopic("half-open", 1, 1, Map.of());
        try (Producer<String, String> producer =
                producer("request.timeout.ms", 5_000, "retries", 0, "enable.idempotence", false)) {
            producer.send(new ProducerRecord<>("half-open", "before")).get();
            int accepted = proxy.accepted();

            proxy.makeAllHalfOpen();

            assertThatThrownBy(() -> producer.send(new ProducerRecord<>("half-open", "lost"))
                            .get())
                    .hasRootCauseInstanceOf(org.apache.kafka.common.errors.TimeoutException.class);
            assertThat(producer.send(new ProducerRecord<>("half-open", "next"))
                            .get()
                            .offset())
                    .isEqualTo(1);
            assertThat(proxy.accepted()).isGreaterThan(accepted);
        }
    }

    @Test
    void shouldRefuseAndAcceptAgain() throws Exception {
        cluster.createTopic("refused", 1, 1, Map.of());
        try (Producer<String, String> producer = producer()) {
            producer.send(new ProducerRecord<>("refused", "before")).get();
            int accepted = proxy.accepted();

            proxy.refuse();
            proxy.resetAll();
            Future<RecordMetadata> sent = producer.send(new ProducerRecord<>("refused", "later"));

            assertThatThrownBy(() -> sent.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            assertThat(proxy.accepted()).isEqualTo(accepted);
            proxy.accept();
            assertThat(sent.get().offset()).isEqualTo(1);
        } finally {
            proxy.accept();
        }
    }

    @Test
    void shouldTakeAsLongAsTheLinkIsSlow() throws Exception {
        cluster.createTopic("slow", 1, 1, Map.of());
        try (Producer<String, String> producer = producer()) {
            producer.send(new ProducerRecord<>("slow", "before")).get();
            proxy.limitBytesPerSecond(20_000);
            long startNs = System.nanoTime();

            producer.send(new ProducerRecord<>("slow", "x".repeat(10_000))).get();

            // A lower bound: no machine is too slow for it.
            assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isGreaterThan(Duration.ofMillis(450));
        } finally {
            proxy.limitBytesPerSecond(Long.MAX_VALUE);
        }
    }

    @Test
    void shouldLeadElsewhereWhenRetargeted() throws Exception {
        cluster.createTopic("elsewhere", 1, 1, Map.of());
        try (FaultProxy outer = FaultProxy.to(1)) {
            outer.setTarget(proxy.port());
            Map<String, Object> config = cluster.clientConfig();
            config.put("bootstrap.servers", "127.0.0.1:" + outer.port());

            Clients.produce(config, "elsewhere", "hello");

            assertThat(outer.accepted()).isPositive();
        }
    }

    private static Producer<String, String> producer(Object... more) {
        Map<String, Object> config = cluster.clientConfig(Listener.PROXIED);
        for (int i = 0; i < more.length; i += 2) {
            config.put((String) more[i], more[i + 1]);
        }
        return Clients.producer(config);
    }
}
