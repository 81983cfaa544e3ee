package dev.millrace.client.it.frameworks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.MillraceProducer;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.kafka.clients.KafkaClient;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.TopicContents;
import dev.millrace.testkit.process.ChildMaven;
import dev.millrace.testkit.process.JavaProgram;
import dev.millrace.testkit.process.JavaRuntime;
import java.io.File;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Kafka Streams is exactly-once with our producer, also when its process is killed; with the versions of Streams in
 * {@code -Dmillrace.test.streams=4.0.1,4.1.1} too, each with its own kafka-clients.
 */
class KafkaStreamsIT {
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final int PARTITIONS = 2;
    private static final String OF_THIS_BUILD = "of-this-build";

    @AutoClose
    private static final KafkaCluster cluster = KafkaCluster.builder().start();

    @TempDir
    private Path state;

    @Test
    void shouldCountEveryWordExactlyOnceWhenKilledInATransactionAndRestarted() throws Exception {
        killAndCount(ProducerKind.MILLRACE, OF_THIS_BUILD);
    }

    static Stream<Arguments> otherProducersAndVersions() {
        return Stream.concat(
                Stream.of(Arguments.of(ProducerKind.STOCK, OF_THIS_BUILD)),
                Stream.of(System.getProperty("millrace.test.streams", "4.0.1").split(","))
                        .map(version -> Arguments.of(ProducerKind.MILLRACE, version)));
    }

    @Tag("thorough")
    @ParameterizedTest
    @MethodSource("otherProducersAndVersions")
    void shouldCountEveryWordExactlyOnceWithOtherProducersAndVersions(ProducerKind kind, String version)
            throws Exception {
        killAndCount(kind, version);
    }

    private void killAndCount(ProducerKind kind, String version) throws Exception {
        // given
        String run = kind.name().toLowerCase(Locale.ROOT) + "-" + version;
        boolean ofThisBuild = version.equals(OF_THIS_BUILD);
        JavaRuntime runtime = ofThisBuild ? JavaRuntime.ofThisJvm() : runtimeOfStreams(version);
        String stores = ofThisBuild ? "on-disk" : WordCount.IN_MEMORY;
        String counts = WordCount.topic(WordCount.COUNTS, run);
        ProducerKind.STOCK.createTopic(cluster, WordCount.topic(WordCount.LINES, run), PARTITIONS, 1, Map.of());
        kind.createTopic(cluster, counts, PARTITIONS, 1, Map.of());
        Map<String, Integer> words;
        try (Feed feed = Feed.start(WordCount.topic(WordCount.LINES, run))) {
            // when it is killed with a transaction open, or sometimes, by accident, between two transactions
            int kills = 0;
            do {
                try (JavaProgram program = start(runtime, kind, run, stores)) {
                    awaitProgress(program, counts);
                    program.kill();
                    kills++;
                }
            } while (TopicContents.end(cluster, counts, IsolationLevel.READ_UNCOMMITTED)
                    == TopicContents.end(cluster, counts, IsolationLevel.READ_COMMITTED));
            System.out.println("KafkaStreamsIT: " + run + " killed " + kills + " time(s)");

            // and goes on after a restart, until all words are counted
            try (JavaProgram program = start(runtime, kind, run, stores)) {
                awaitProgress(program, counts);
                words = feed.finish();
                int total = words.values().stream().mapToInt(Integer::intValue).sum();
                Await.until("all " + total + " words are counted", PATIENCE, () -> {
                    assertThat(program.isAlive()).as(program.output()).isTrue();
                    return TopicContents.readCommitted(cluster, counts).size() >= total;
                });
                program.stop(PATIENCE);
            }
        }

        // then the counts of each word are 1, 2, … to its number, none missing and none twice
        Map<String, List<Long>> expected = new TreeMap<>();
        words.forEach((word, count) ->
                expected.put(word, LongStream.rangeClosed(1, count).boxed().toList()));
        assertThat(countsOfWords(counts)).isEqualTo(expected);
    }

    private JavaProgram start(JavaRuntime runtime, ProducerKind kind, String run, String stores) {
        return JavaProgram.start(
                runtime,
                List.of("-Xmx512m", "-XX:TieredStopAtLevel=1"),
                WordCount.class,
                kind.name(),
                run,
                cluster.bootstrapServers(),
                state.toString(),
                stores);
    }

    /** With the jars of that version, and from this build only the producer and the program. */
    private JavaRuntime runtimeOfStreams(String version) throws Exception {
        Path jars = state.resolve("jars");
        ChildMaven.plain()
                .run(
                        Path.of("src/test/streams"),
                        "dependency:build-classpath",
                        "-Dkafka.version=" + version,
                        "-Dmdep.outputFile=" + jars);
        String own = Stream.of(WordCount.class, MillraceProducer.class, KafkaClient.class, JavaProgram.class)
                .map(type ->
                        type.getProtectionDomain().getCodeSource().getLocation().getPath())
                .distinct()
                .collect(Collectors.joining(File.pathSeparator));
        return new JavaRuntime(JavaRuntime.ofThisJvm().home(), own + File.pathSeparator + Files.readString(jars));
    }

    /** Waits until it has committed many more counts, and has written some in a transaction that is still open. */
    private static void awaitProgress(JavaProgram program, String counts) {
        long before = TopicContents.end(cluster, counts, IsolationLevel.READ_COMMITTED);
        Await.until("transactions are committed, and another is open", PATIENCE, () -> {
            assertThat(program.isAlive()).as(program.output()).isTrue();
            long committed = TopicContents.end(cluster, counts, IsolationLevel.READ_COMMITTED);
            return committed >= before + 1000
                    && TopicContents.end(cluster, counts, IsolationLevel.READ_UNCOMMITTED) > committed;
        });
    }

    private static Map<String, List<Long>> countsOfWords(String topic) {
        return TopicContents.readCommitted(cluster, topic).stream()
                .collect(Collectors.groupingBy(
                        record -> new String(record.key(), UTF_8),
                        TreeMap::new,
                        Collectors.mapping(
                                record -> ByteBuffer.wrap(record.value()).getLong(), Collectors.toList())));
    }

    /** Sends lines without a pause, so that the program is never idle, until it is told to finish. */
    private static final class Feed implements AutoCloseable {
        private static final int VOCABULARY = 200;
        private static final int WORDS_PER_LINE = 5;

        private final Map<String, Integer> words = new TreeMap<>();
        private final String topic;
        private final Thread thread = new Thread(this::run, "feed");
        private volatile boolean finishing;

        private Feed(String topic) {
            this.topic = topic;
        }

        static Feed start(String topic) {
            Feed feed = new Feed(topic);
            feed.thread.start();
            return feed;
        }

        private void run() {
            long seed = Long.getLong("millrace.seed", System.nanoTime());
            System.out.println("KafkaStreamsIT seed " + seed);
            Random random = new Random(seed);
            try (Producer<byte[], byte[]> producer = ProducerKind.STOCK.create(cluster.clientConfig())) {
                while (!finishing) {
                    producer.send(new ProducerRecord<>(topic, line(random).getBytes(UTF_8)));
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
                }
            }
        }

        private String line(Random random) {
            List<String> line = new ArrayList<>();
            for (int i = 0; i < WORDS_PER_LINE; i++) {
                String word = "word-" + random.nextInt(VOCABULARY);
                words.merge(word, 1, Integer::sum);
                line.add(word);
            }
            return String.join(" ", line);
        }

        /** Returns how often it has sent each word; blocks until all are written. */
        Map<String, Integer> finish() throws InterruptedException {
            finishing = true;
            thread.join();
            return words;
        }

        @Override
        public void close() {
            finishing = true;
        }
    }
}
