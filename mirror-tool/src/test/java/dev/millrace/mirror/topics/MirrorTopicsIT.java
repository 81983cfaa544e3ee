package dev.millrace.mirror.topics;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.StockProducers;
import dev.millrace.testkit.oracle.Comparison;
import dev.millrace.testkit.oracle.TopicDigest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What topics and transactions of the source become on the target. */
@Tag("thorough")
class MirrorTopicsIT {
    private static final Duration STOP = Duration.ofSeconds(40);

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture();

    @TempDir
    private Path folder;

    @Test
    void shouldCreateMissingTopicsWithTheSettingsOfTheSource() throws Exception {
        String topic = "configured";
        Map<String, String> copied =
                Map.of("cleanup.policy", "compact", "max.message.bytes", "2000000", "retention.ms", "-1");
        Map<String, String> settings = new HashMap<>(copied);
        settings.put("leader.replication.throttled.replicas", "0:1");
        settings.put("follower.replication.throttled.replicas", "0:1");
        clusters.source().createTopic(topic, 2, 1, settings);

        String output = mirrorUntilCommitted(topic, 2, 1_000);

        Config created = Clusters.topicConfig(clusters.target().admin(), topic);
        assertThat(TopicSettings.toCopy(created, Set.of())).isEqualTo(copied);
        assertThat(TopicSettings.toLeave(created, Set.of())).isEmpty();
        assertThat(output).contains("Created topic configured").doesNotContain("which may delete");
    }

    @Test
    void shouldLeaveAnExistingTopicAsItIsAndWarnWhenItDeletesByOtherRules() throws Exception {
        String topic = "existing";
        clusters.source().createTopic(topic, 2, 1, Map.of("cleanup.policy", "compact"));
        clusters.target()
                .createTopic(
                        topic, 2, 1, Map.of("segment.bytes", "2000000", "message.timestamp.type", "LogAppendTime"));

        String output = mirrorUntilCommitted(topic, 2, 1_000);

        assertThat(TopicSettings.toCopy(Clusters.topicConfig(clusters.target().admin(), topic), Set.of()))
                .isEqualTo(Map.of("segment.bytes", "2000000"));
        assertThat(output).containsOnlyOnce("existing has cleanup.policy [compact] on the source, but [delete]");
        assertThat(output).containsOnlyOnce("message.timestamp.type is LogAppendTime, in 1 topic: [existing]");
    }

    @Test
    void shouldCreateManyTopicsInFewRequestsAndLeaveOutTheOneThatIsRefused() throws Exception {
        List<String> topics = IntStream.range(0, 450).mapToObj(i -> "many." + i).toList();
        MirrorFixture.get(clusters.source()
                .admin()
                .createTopics(topics.stream()
                        .map(topic -> new NewTopic(topic, 1, (short) 1))
                        .toList())
                .all());
        clusters.target().createTopic("many_7", 1, 1, Map.of()); // collides with many.7

        try (MirrorProcess mirror = clusters.mirror("many[.].*", 4, ProducerKind.MILLRACE)) {
            await("one is refused", () -> mirror.hasPrinted("Could not make topic many.7 ready on the target"), mirror);
            await("the others are there", () -> createdOf("many.").size() == topics.size() - 1, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            assertThat(mirror.output()).contains("Created 200 topics on the target");
        }
        assertThat(createdOf("many.")).doesNotContain("many.7");
    }

    private static Set<String> createdOf(String beginning) {
        Set<String> created = new TreeSet<>(
                MirrorFixture.get(clusters.target().admin().listTopics().names()));
        created.removeIf(topic -> !topic.startsWith(beginning));
        return created;
    }

    @Test
    void shouldMirrorATopicThatAppearsLaterFromItsBeginning() throws Exception {
        clusters.source().createTopic("early", 1, 1, Map.of());
        Path file = Files.writeString(folder.resolve("consumer.properties"), "metadata.max.age.ms=500\n");
        for (CopyMode mode : List.of(CopyMode.CONSUMER, CopyMode.AUTO)) {
            String later = "early-later-" + mode;
            try (MirrorProcess mirror = clusters.mirror("early.*", 2, mode, "--consumer.config=" + file)) {
                fillWithKeys("early", 1, 100);
                long before = clusters.committed("early.*");
                await("it is at work", () -> clusters.mirrored("early") == clusters.written("early"), mirror);

                clusters.source().createTopic(later, 2, 1, Map.of());
                fillWithKeys(later, 2, 1_000);

                await("the later topic too", () -> clusters.committed("early.*") >= before + 1_000, mirror);
                assertThat(mirror.terminate().awaitExit(STOP))
                        .as(mirror.output())
                        .isZero();
            }
            assertThat(clusters.compare(later)).matches(Comparison::isExact);
        }
    }

    @Test
    void shouldMirrorCommittedTransactionsOnlyAndCommitPastTheOthers() throws Exception {
        String topic = "transactional";
        clusters.source().createTopic(topic, 1, 1, Map.of());
        sendInTransactions(topic);
        // Not asked of the source: it writes a transaction's marker after the producer's call has returned.
        long end = 10 + 1 + 10 + 1;

        try (MirrorProcess mirror = clusters.mirror(topic, 1, ProducerKind.MILLRACE)) {
            await("its end is committed", () -> clusters.committed(topic) == end, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }

        Map<String, Object> reader = clusters.source().clientConfig();
        reader.put("isolation.level", "read_committed");
        TopicDigest committed = TopicDigest.read(reader, topic);
        assertThat(committed.compare(TopicDigest.read(clusters.target().clientConfig(), topic)))
                .matches(Comparison::isExact);
    }

    @Test
    void shouldMirrorAbortedTransactionsWhenAskedTo() throws Exception {
        String topic = "dirty";
        clusters.source().createTopic(topic, 1, 1, Map.of());
        sendInTransactions(topic);
        Path file = Files.writeString(folder.resolve("consumer.properties"), "isolation.level=read_uncommitted\n");

        try (MirrorProcess mirror = clusters.mirror(topic, 1, ProducerKind.MILLRACE, "--consumer.config=" + file)) {
            await("all is mirrored", () -> clusters.mirrored(topic) == 20, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        assertThat(clusters.compare(topic)).matches(Comparison::isExact);
    }

    /** Ten records that are committed, and then ten others that are aborted. */
    private static void sendInTransactions(String topic) {
        Map<String, Object> config = clusters.source().clientConfig();
        config.put("transactional.id", topic);
        try (KafkaProducer<byte[], byte[]> producer = StockProducers.create(config)) {
            producer.initTransactions();
            for (boolean isCommitted : new boolean[] {true, false}) {
                producer.beginTransaction();
                for (int i = 0; i < 10; i++) {
                    MirrorFixture.get(producer.send(
                            new ProducerRecord<>(topic, 0, null, new byte[] {(byte) (isCommitted ? i : ~i)})));
                }
                if (isCommitted) {
                    producer.commitTransaction();
                } else {
                    producer.abortTransaction();
                }
            }
        }
    }

    /** Returns what the mirror printed. */
    private static String mirrorUntilCommitted(String topic, int partitions, int records) throws Exception {
        fillWithKeys(topic, partitions, records);
        try (MirrorProcess mirror = clusters.mirror(topic, 2, ProducerKind.MILLRACE)) {
            await("all is committed", () -> clusters.committed(topic) >= records, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            return mirror.output();
        }
    }

    /** Writes records with keys, because a compacted topic accepts no others. */
    private static void fillWithKeys(String topic, int partitions, int records) {
        try (KafkaProducer<byte[], byte[]> producer =
                StockProducers.create(clusters.source().clientConfig())) {
            for (int i = 0; i < records; i++) {
                byte[] key = Integer.toString(i).getBytes(StandardCharsets.UTF_8);
                Future<RecordMetadata> unused = producer.send(new ProducerRecord<>(topic, i % partitions, key, key));
            }
        }
    }
}
