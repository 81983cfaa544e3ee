package dev.millrace.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.programs.RoundTrip;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.mirrormaker.MavenJars;
import dev.millrace.testkit.mirrormaker.MirrorMaker2Config;
import dev.millrace.testkit.process.JavaProgram;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A worker of Kafka Connect, which constructs its producers itself: MirrorMaker 2, as Kafka ships it, with SLF4J 1.7. Its
 * task sends records, and the worker sends its configuration, offsets and states.
 */
@Tag("thorough")
class ConnectIT extends AgentFixture {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @AutoClose
    private static final KafkaCluster target = KafkaCluster.builder().start();

    @Test
    void shouldSendForTheWorkerAndItsTasks() throws Exception {
        String topic = topic();
        target.createServedTopic(topic, 3, 1, Map.of("retention.ms", "-1"));
        RoundTrip source = new RoundTrip(servers(), topic);
        RoundTrip copy = new RoundTrip(target.bootstrapServers(), topic);
        try (Producer<byte[], byte[]> producer = new KafkaProducer<>(source.config())) {
            source.send(producer);
        }

        String output;
        try (MavenJars jars = new MavenJars("mirrormaker2");
                JavaProgram worker = AgentRun.withAgent(jars)
                        .start(
                                "org.apache.kafka.connect.mirror.MirrorMaker",
                                jars.store("mm2.properties", config(topic)).toString())) {
            Await.until("all is copied", PATIENCE, () -> copy.read().size() >= RoundTrip.RECORDS);
            worker.stop(PATIENCE);
            output = worker.output();
        }

        assertThat(texts(copy)).containsExactlyInAnyOrderElementsOf(texts(source));
        assertThat(output)
                .contains("The KafkaProducers of kafka-clients " + AgentRun.KAFKA)
                .doesNotContain("is the stock producer");
    }

    private static List<String> texts(RoundTrip topic) {
        return topic.read().stream()
                .map(record -> record.partition() + " " + record.timestamp() + " " + Arrays.toString(record.key()) + " "
                        + Arrays.toString(record.value()) + " " + record.headers())
                .toList();
    }

    private static Map<String, Object> config(String topic) {
        Map<String, Object> config = MirrorMaker2Config.betweenSingleBrokers(
                "source", servers(), "target", target.bootstrapServers(), topic);
        config.putAll(MirrorMaker2Config.SAME_NAMES);
        return config;
    }
}
