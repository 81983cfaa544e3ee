package dev.millrace.client.it.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.support.ProducerKind;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.TopicContents;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The brokers that a producer knows are gone, and {@code bootstrap.servers} names others (KIP-899, KIP-1102). Two
 * clusters with the same topics stand for one cluster that has moved.
 */
@Tag("thorough")
class RebootstrapIT {
    @AutoClose
    private static final KafkaCluster before = KafkaCluster.builder().start();

    @AutoClose
    private static final KafkaCluster after = KafkaCluster.builder().start();

    @BeforeAll
    static void createTopics() {
        for (KafkaCluster cluster : new KafkaCluster[] {before, after}) {
            cluster.createTopic("gone", 1, 1, Map.of());
            cluster.createTopic("silent", 1, 1, Map.of());
        }
    }

    @BeforeEach
    void knowOnlyTheFirstCluster() {
        after.kill(1);
    }

    @Test
    void shouldFindTheClusterAgainWhenAllKnownBrokersAreGoneUnlessToldNotTo() throws Exception {
        Map<ProducerKind, Producer<byte[], byte[]>> recovering = new EnumMap<>(ProducerKind.class);
        Map<ProducerKind, Producer<byte[], byte[]>> staying = new EnumMap<>(ProducerKind.class);
        for (ProducerKind kind : ProducerKind.values()) {
            recovering.put(kind, create(kind));
            staying.put(kind, create(kind, "metadata.recovery.strategy", "none"));
        }
        try {
            // given
            for (ProducerKind kind : ProducerKind.values()) {
                send(recovering.get(kind), "gone").get(20, TimeUnit.SECONDS);
                send(staying.get(kind), "gone").get(20, TimeUnit.SECONDS);
            }

            // when
            before.kill(1);
            after.restart(1);

            // then
            Map<ProducerKind, Future<RecordMetadata>> lost = new EnumMap<>(ProducerKind.class);
            for (ProducerKind kind : ProducerKind.values()) {
                lost.put(kind, send(staying.get(kind), "gone"));
                sendUntilItSucceeds(recovering.get(kind), "gone");
            }
            for (ProducerKind kind : ProducerKind.values()) {
                assertThatThrownBy(() -> lost.get(kind).get(20, TimeUnit.SECONDS))
                        .as(kind.name())
                        .hasCauseInstanceOf(TimeoutException.class);
            }
            assertThat(TopicContents.read(after.clientConfig(), "gone")).hasSize(ProducerKind.values().length);
        } finally {
            recovering.values().forEach(Producer::close);
            staying.values().forEach(Producer::close);
            before.restart(1);
        }
    }

    @Test
    void shouldFindTheClusterAgainWhenKnownBrokersAreConnectedButDoNotAnswer() throws Exception {
        Map<ProducerKind, Producer<byte[], byte[]>> producers = new EnumMap<>(ProducerKind.class);
        for (ProducerKind kind : ProducerKind.values()) {
            producers.put(
                    kind, create(kind, "metadata.recovery.rebootstrap.trigger.ms", 1_000, "metadata.max.age.ms", 500));
        }
        try {
            // given
            for (Producer<byte[], byte[]> producer : producers.values()) {
                send(producer, "silent").get(20, TimeUnit.SECONDS);
            }
            after.restart(1);

            // when
            before.pause(1);

            // then
            for (Producer<byte[], byte[]> producer : producers.values()) {
                sendUntilItSucceeds(producer, "silent");
            }
            assertThat(TopicContents.read(after.clientConfig(), "silent")).hasSize(ProducerKind.values().length);
        } finally {
            before.resume(1);
            producers.values().forEach(Producer::close);
        }
    }

    private static Producer<byte[], byte[]> create(ProducerKind kind, Object... more) {
        Map<String, Object> client = ProducerKind.with(
                Map.of(), "bootstrap.servers", before.bootstrapServers() + "," + after.bootstrapServers());
        client.put("delivery.timeout.ms", 8_000);
        client.put("request.timeout.ms", 8_000);
        client.put("linger.ms", 0);
        return kind.create(client, more);
    }

    private static Future<RecordMetadata> send(Producer<byte[], byte[]> producer, String topic) {
        return producer.send(new ProducerRecord<>(topic, new byte[10]));
    }

    /** Tries several records: on a busy machine this may take longer than the delivery timeout of one. */
    private static void sendUntilItSucceeds(Producer<byte[], byte[]> producer, String topic) throws Exception {
        for (int attempt = 0; attempt < 5; attempt++) {
            try {
                send(producer, topic).get(20, TimeUnit.SECONDS);
                return;
            } catch (java.util.concurrent.ExecutionException e) {
                assertThat(e).hasCauseInstanceOf(TimeoutException.class);
            }
        }
        throw new AssertionError("The producer does not find the cluster");
    }
}
