package dev.millrace.client.it.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.Tries;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.cluster.TopicContents;
import dev.millrace.testkit.proxy.FaultProxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The address of a broker now leads to another cluster, whose topic has the same name (KIP-1242). With kafka-clients before
 * 4.4 there is no stock producer to compare with.
 */
@Tag("thorough")
class ClusterCheckIT {
    private static final String TOPIC = "cluster-check";
    private static final String KEY = "metadata.cluster.check.enable";

    @AutoClose
    private static KafkaCluster own;

    @AutoClose
    private static KafkaCluster other;

    /** What {@code bootstrap.servers} names. */
    @AutoClose
    private static FaultProxy bootstrap;

    @BeforeAll
    static void start() {
        assumeTrue(
                System.getProperty("millrace.testkit.broker.path") != null,
                "Brokers compare from 4.4 on: run client/versions 4.4.0");
        own = KafkaCluster.builder().brokers(2).listeners(Listener.PROXIED).start();
        other = KafkaCluster.builder().start();
        bootstrap = FaultProxy.to(own.proxy(2).port());
        own.createTopic(TOPIC, Map.of(0, List.of(1)), Map.of());
        other.createTopic(TOPIC, 1, 1, Map.of());
    }

    @Test
    void shouldNotSendToAnotherClusterUnlessToldNotToCheck() throws Exception {
        Map<ProducerKind, Producer<byte[], byte[]>> checking = new EnumMap<>(ProducerKind.class);
        Map<ProducerKind, Producer<byte[], byte[]>> trusting = new EnumMap<>(ProducerKind.class);
        List<ProducerKind> kinds = ProducerConfig.configNames().contains(KEY)
                ? List.of(ProducerKind.values())
                : List.of(ProducerKind.MILLRACE);
        try {
            // given
            for (ProducerKind kind : kinds) {
                checking.put(kind, create(kind));
                trusting.put(kind, create(kind, KEY, "false"));
                Tries.untilAcknowledged(checking.get(kind), record("before"));
                Tries.untilAcknowledged(trusting.get(kind), record("before"));
            }
            int target = own.proxy(1).target();

            // when the leader's address is the other cluster's, and the rest of the own one is out of reach
            bootstrap.refuse();
            own.proxy(2).setFlow(FaultProxy.Flow.NOTHING);
            own.proxy(1).setTarget(port(other));
            own.proxy(1).resetAll();
            Map<ProducerKind, Future<RecordMetadata>> refused = new EnumMap<>(ProducerKind.class);
            for (ProducerKind kind : kinds) {
                refused.put(kind, checking.get(kind).send(record(kind + " checks")));
                Tries.untilAcknowledged(trusting.get(kind), record(kind + " trusts"));
            }

            // then
            for (ProducerKind kind : kinds) {
                assertThatThrownBy(() -> refused.get(kind).get(60, TimeUnit.SECONDS))
                        .as(kind.name())
                        .hasCauseInstanceOf(TimeoutException.class);
            }
            assertThat(values(other))
                    .containsOnly(kinds.stream().map(kind -> kind + " trusts").toArray(String[]::new));

            // and when the own cluster is back
            own.proxy(1).setTarget(target);
            own.proxy(1).resetAll();
            own.proxy(2).setFlow(FaultProxy.Flow.BOTH);
            bootstrap.accept();
            List<String> after = new ArrayList<>();
            for (ProducerKind kind : kinds) {
                Tries.untilAcknowledged(checking.get(kind), record(kind + " after"));
                after.add(kind + " after");
            }

            // then
            assertThat(values(own)).containsAll(after);
            assertThat(values(other)).doesNotContainAnyElementsOf(after);
        } finally {
            checking.values().forEach(Producer::close);
            trusting.values().forEach(Producer::close);
        }
    }

    private static Producer<byte[], byte[]> create(ProducerKind kind, Object... more) {
        Map<String, Object> client = ProducerKind.with(Map.of(), "bootstrap.servers", "127.0.0.1:" + bootstrap.port());
        client.put("metadata.recovery.strategy", "rebootstrap"); // not the default before 4.0
        client.put("request.timeout.ms", 3_000);
        client.put("delivery.timeout.ms", 10_000);
        client.put("linger.ms", 0);
        return kind.create(client, more);
    }

    private static ProducerRecord<byte[], byte[]> record(String value) {
        return new ProducerRecord<>(TOPIC, value.getBytes(StandardCharsets.UTF_8));
    }

    private static List<String> values(KafkaCluster cluster) {
        return TopicContents.read(cluster.clientConfig(), TOPIC).stream()
                .map(found -> new String(found.value(), StandardCharsets.UTF_8))
                .toList();
    }

    private static int port(KafkaCluster cluster) {
        String address = cluster.bootstrapServers();
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    }
}
