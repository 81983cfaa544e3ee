package dev.millrace.client.it.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.MillraceProducer;
import dev.millrace.client.accumulator.Seed;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.Tries;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.cluster.TopicContents;
import dev.millrace.testkit.proxy.VersionLimit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Tag;

/** A program that makes random calls in random order observes the same with our producer as with the stock producer. */
@Tag("thorough")
class DifferentialIT {
    private static final Map<String, Integer> TOPICS =
            Map.of(Script.KEYED, Script.PARTITIONS, Script.SINGLE, 1, Script.SMALL, 1, Script.COMPACTED, 1);
    private static final Map<String, Map<String, String>> TOPIC_CONFIGS = Map.of(
            Script.SMALL, Map.of("max.message.bytes", "3000"),
            Script.COMPACTED, Map.of("cleanup.policy", "compact"));

    /** It speaks like a broker of Kafka 2.1. */
    private static final Listener OLD_BROKER = Listener.PROXIED;

    @AutoClose
    private static KafkaCluster cluster;

    @BeforeAll
    static void start() {
        cluster = KafkaCluster.builder()
                .listeners(Listener.PROXIED)
                .setting("auto.create.topics.enable", "false") // scripts use topics that do not exist
                .start();
        cluster.proxy(1).limitVersions(VersionLimit.KAFKA_2_1);
    }

    @RepeatedTest(3)
    void shouldObserveTheSameWhenTheSameScriptIsPlayed(RepetitionInfo repetition) throws Exception {
        Script script = Script.plain(Seed.random("DifferentialIT"));

        assertSameObservations(script, "-plain-" + repetition.getCurrentRepetition(), Listener.PLAINTEXT);
    }

    @RepeatedTest(3)
    void shouldObserveTheSameWhenTheSameTransactionsArePlayed(RepetitionInfo repetition) throws Exception {
        Script script = Script.transactional(Seed.random("DifferentialIT"));
        String suffix = "-transactional-" + repetition.getCurrentRepetition();

        assertSameObservations(script, suffix, Listener.PLAINTEXT);

        assertThat(offsets(suffix, ProducerKind.MILLRACE)).isEqualTo(offsets(suffix, ProducerKind.STOCK));
    }

    @RepeatedTest(2)
    void shouldObserveTheSameWhenTheScriptIsPlayedToAnOldBroker(RepetitionInfo repetition) throws Exception {
        Script script = Script.plain(Seed.random("DifferentialIT/old"));

        assertSameObservations(script, "-old-plain-" + repetition.getCurrentRepetition(), OLD_BROKER);
    }

    @RepeatedTest(2)
    void shouldObserveTheSameWhenTheTransactionsArePlayedToAnOldBroker(RepetitionInfo repetition) throws Exception {
        Script script = Script.transactional(Seed.random("DifferentialIT/old"));
        String suffix = "-old-transactional-" + repetition.getCurrentRepetition();

        assertSameObservations(script, suffix, OLD_BROKER);

        assertThat(offsets(suffix, ProducerKind.MILLRACE)).isEqualTo(offsets(suffix, ProducerKind.STOCK));
    }

    private static void assertSameObservations(Script script, String suffix, Listener listener) throws Exception {
        List<String> stock = play(script, ProducerKind.STOCK, suffix, listener);
        List<String> ours = play(script, ProducerKind.MILLRACE, suffix, listener);

        assertThat(differences(stock, ours)).as(script.configs().toString()).isEmpty();
        for (String topic : TOPICS.keySet()) {
            List<String> stockRecords = contents(topic + suffix(suffix, ProducerKind.STOCK));
            List<String> ourRecords = contents(topic + suffix(suffix, ProducerKind.MILLRACE));
            assertThat(differences(stockRecords, ourRecords)).as(topic).isEmpty();
        }
    }

    private static List<String> differences(List<String> stock, List<String> ours) {
        List<String> differences = new ArrayList<>();
        for (int i = 0; i < Math.max(stock.size(), ours.size()); i++) {
            String theirs = i < stock.size() ? stock.get(i) : "nothing";
            String own = i < ours.size() ? ours.get(i) : "nothing";
            if (!own.equals(theirs)) {
                differences.add("stock:    " + theirs + "\n      Millrace: " + own);
            }
        }
        return differences;
    }

    private static List<String> play(Script script, ProducerKind kind, String suffix, Listener listener)
            throws Exception {
        String topicSuffix = suffix(suffix, kind);
        for (Map.Entry<String, Integer> topic : TOPICS.entrySet()) {
            Map<String, String> configs = new HashMap<>(TOPIC_CONFIGS.getOrDefault(topic.getKey(), Map.of()));
            configs.put("retention.ms", "-1"); // scripts send records of 2001, which are to be read
            kind.createTopic(cluster, topic.getKey() + topicSuffix, topic.getValue(), 1, configs);
        }
        try (Producer<byte[], Object> producer = create(kind, script, topicSuffix, listener)) {
            for (String topic : TOPICS.keySet()) {
                Tries.untilKnown(producer, topic + topicSuffix);
            }
            return new ScriptRun(producer, topicSuffix).play(script);
        }
    }

    private static Producer<byte[], Object> create(
            ProducerKind kind, Script script, String topicSuffix, Listener listener) {
        Map<String, Object> configs = new HashMap<>(cluster.clientConfig(listener));
        configs.putAll(script.configs());
        configs.computeIfPresent("transactional.id", (key, id) -> id + topicSuffix);
        return kind == ProducerKind.STOCK
                ? new KafkaProducer<>(configs, new ByteArraySerializer(), new ScriptRun.BytesSerializer())
                : new MillraceProducer<>(configs, new ByteArraySerializer(), new ScriptRun.BytesSerializer());
    }

    private static List<String> contents(String topic) {
        return TopicContents.readCommitted(cluster, topic).stream()
                .map(ScriptRun::inWords)
                .toList();
    }

    /** The offsets that the group has committed, by partition. */
    private static Map<Integer, Long> offsets(String suffix, ProducerKind kind) throws Exception {
        return cluster
                .admin()
                .listConsumerGroupOffsets(
                        Script.GROUP + suffix(suffix, kind), new ListConsumerGroupOffsetsOptions().requireStable(true))
                .partitionsToOffsetAndMetadata()
                .get()
                .entrySet()
                .stream()
                .collect(Collectors.toMap(
                        entry -> entry.getKey().partition(),
                        entry -> entry.getValue().offset()));
    }

    private static String suffix(String suffix, ProducerKind kind) {
        return suffix + "-" + kind.name().toLowerCase(Locale.ROOT);
    }
}
