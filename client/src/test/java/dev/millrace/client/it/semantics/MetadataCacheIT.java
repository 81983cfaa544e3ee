package dev.millrace.client.it.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.TopicContents;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** {@code millrace.metadata.cache}: a producer is started again, and the cluster has changed meanwhile. */
@Tag("thorough")
class MetadataCacheIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @AutoClose
    private static final KafkaCluster cluster = KafkaCluster.builder().start();

    @TempDir
    Path folder;

    @Test
    void shouldKnowTheTopicsOfTheLastRunBeforeTheyAreUsed() throws Exception {
        // given
        List<String> topics = IntStream.range(0, 20).mapToObj(i -> "known-" + i).toList();
        topics.forEach(topic -> cluster.createTopic(topic, 2, 1, Map.of()));
        send(cluster, topics, "first");

        // when a producer that never waits for metadata has used none of them yet
        try (Producer<byte[], byte[]> producer = create(cluster, "max.block.ms", 0)) {
            awaitAnswerForRemembered(producer);
            for (String topic : topics) {
                producer.send(record(topic, "second")).get();
            }
        }

        // then
        for (String topic : topics) {
            assertThat(values(cluster, topic)).containsExactlyInAnyOrder("first", "second");
        }
    }

    @Test
    void shouldLoseNothingWhenTopicsWereDeletedOrCreatedAnew() throws Exception {
        // given
        List<String> topics = List.of("stays", "deleted", "anew");
        topics.forEach(topic -> cluster.createTopic(topic, 4, 1, Map.of()));
        send(cluster, topics, "first");

        // when
        cluster.admin().deleteTopics(List.of("deleted", "anew")).all().get();
        Await.until("the topics are deleted", PATIENCE, () -> !existing(cluster).contains("anew"));
        cluster.createTopic("anew", 1, 1, Map.of());
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        try (Producer<byte[], byte[]> producer = create(cluster)) {
            awaitAnswerForRemembered(producer);
            for (int i = 0; i < 100; i++) {
                sent.add(producer.send(record("anew", "second-" + i)));
                sent.add(producer.send(record("stays", "second-" + i)));
            }
        }

        // then
        for (Future<RecordMetadata> future : sent) {
            assertThat(future.get().hasOffset()).isTrue();
        }
        assertThat(values(cluster, "anew"))
                .containsExactlyElementsOf(
                        IntStream.range(0, 100).mapToObj(i -> "second-" + i).toList());
        assertThat(values(cluster, "stays")).hasSize(101);
        assertThat(existing(cluster)).as("remembered, but not created anew").doesNotContain("deleted");
    }

    @Test
    void shouldCreateADeletedTopicAnewOnlyWhenARecordNeedsItAgain() throws Exception {
        // given a topic that the last run used, and this one does not
        cluster.createTopic("of-last-run", 1, 1, Map.of());
        cluster.createTopic("of-this-run", 1, 1, Map.of());
        send(cluster, List.of("of-last-run", "of-this-run"), "first");
        try (Producer<byte[], byte[]> producer = create(cluster, "metadata.max.age.ms", 100)) {
            awaitAnswerForRemembered(producer);
            producer.send(record("of-this-run", "second")).get();

            // when all topics in use are asked for again and again
            cluster.admin()
                    .deleteTopics(List.of("of-last-run", "of-this-run"))
                    .all()
                    .get();
            Await.until(
                    "the topics are deleted", PATIENCE, () -> !existing(cluster).contains("of-last-run"));
            double before = imageVersion(producer);
            Await.until("more answers", PATIENCE, () -> imageVersion(producer) > before + 5);

            // then
            assertThat(existing(cluster)).doesNotContain("of-last-run", "of-this-run");

            // when
            producer.send(record("of-last-run", "third")).get();

            // then
            assertThat(values(cluster, "of-last-run")).containsExactly("third");
            assertThat(existing(cluster)).doesNotContain("of-this-run");
        }
    }

    @Test
    void shouldCreateADeletedTopicAnewWhenItsRecordsAreBufferedAlready() throws Exception {
        cluster.createTopic("buffered", 1, 1, Map.of());
        try (Producer<byte[], byte[]> producer = create(cluster)) {
            producer.send(record("buffered", "first")).get();
            cluster.admin().deleteTopics(List.of("buffered")).all().get();
            Await.until(
                    "the topic is deleted", PATIENCE, () -> !existing(cluster).contains("buffered"));

            producer.send(record("buffered", "second")).get();
        }

        assertThat(values(cluster, "buffered")).containsExactly("second");
    }

    @Test
    void shouldNotUseTheTopicsOfAnotherCluster() throws Exception {
        cluster.createTopic("of-one", 2, 1, Map.of());
        cluster.createTopic("of-both", 2, 1, Map.of());
        send(cluster, List.of("of-one", "of-both"), "first");
        Path ofOne = files().get(0);
        try (KafkaCluster other = KafkaCluster.builder().start()) {
            // given a file of the one cluster where the other's is expected
            send(other, List.of("of-both"), "other");
            Path ofOther = files().stream()
                    .filter(file -> !file.equals(ofOne))
                    .findAny()
                    .orElseThrow();
            Files.copy(ofOne, ofOther, StandardCopyOption.REPLACE_EXISTING);

            // when
            ListAppender<ILoggingEvent> said = new ListAppender<>();
            said.start();
            Logger logger = (Logger) LoggerFactory.getLogger("dev.millrace.client.metadata");
            logger.addAppender(said);
            try (Producer<byte[], byte[]> producer = create(other)) {
                Await.until(
                        "a warning",
                        PATIENCE,
                        () -> List.copyOf(said.list).stream()
                                .anyMatch(event -> event.getFormattedMessage().contains("they are not used")));
                producer.send(record("of-both", "other again")).get();
            } finally {
                logger.detachAppender(said);
            }

            // then
            assertThat(existing(other)).containsExactly("of-both");
            assertThat(values(other, "of-both")).containsExactlyInAnyOrder("other", "other again");
            assertThat(values(cluster, "of-both")).containsExactly("first");
            assertThat(Files.readString(ofOther, StandardCharsets.ISO_8859_1)).doesNotContain("of-one");
        }
    }

    @Test
    void shouldSendAsEverWhenTheFileIsDamaged() throws Exception {
        cluster.createTopic("damaged", 1, 1, Map.of());
        send(cluster, List.of("damaged"), "first");
        Files.write(files().get(0), new byte[] {1, 2, 3});

        send(cluster, List.of("damaged"), "second");

        assertThat(values(cluster, "damaged")).containsExactly("first", "second");
    }

    /** A run of the program. */
    private void send(KafkaCluster to, Collection<String> topics, String value) throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        try (Producer<byte[], byte[]> producer = create(to)) {
            topics.forEach(topic -> sent.add(producer.send(record(topic, value))));
        }
        for (Future<RecordMetadata> future : sent) {
            assertThat(future.get().hasOffset()).isTrue();
        }
    }

    private Producer<byte[], byte[]> create(KafkaCluster to, Object... more) {
        return ProducerKind.MILLRACE.create(
                ProducerKind.with(to.clientConfig(), "client.id", "app", "millrace.metadata.cache", folder.toString()),
                more);
    }

    /** The first image has the brokers, the second one the remembered topics, while the producer uses none. */
    private static void awaitAnswerForRemembered(Producer<?, ?> unused) {
        Await.until("an answer for the remembered topics", PATIENCE, () -> imageVersion(unused) >= 2);
    }

    private static double imageVersion(Producer<?, ?> producer) {
        return producer.metrics().entrySet().stream()
                .filter(metric -> metric.getKey().name().equals("cluster-image-version"))
                .mapToDouble(metric -> (double) metric.getValue().metricValue())
                .sum();
    }

    private static ProducerRecord<byte[], byte[]> record(String topic, String value) {
        return new ProducerRecord<>(topic, value.getBytes(StandardCharsets.UTF_8));
    }

    private static List<String> values(KafkaCluster from, String topic) {
        return TopicContents.read(from.clientConfig(), topic).stream()
                .map(record -> new String(record.value(), StandardCharsets.UTF_8))
                .toList();
    }

    private static Set<String> existing(KafkaCluster in) {
        try {
            return in.admin().listTopics().names().get().stream().collect(Collectors.toSet());
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private List<Path> files() throws IOException {
        try (var files = Files.list(folder)) {
            return files.toList();
        }
    }
}
