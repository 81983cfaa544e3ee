package dev.millrace.client.it.frameworks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.TopicContents;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.process.JavaProgram;
import dev.millrace.testkit.process.JavaRuntime;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Kafka Streams is exactly-once with our producer, also when its process is killed. */
class KafkaStreamsIT {
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final int PARTITIONS = 2;
    private static KafkaCluster cluster;

    @TempDir
    private Path state;

    @BeforeAll
    static void start() {
        cluster = KafkaCluster.builder().start();
    }

    @AfterAll
    static void stop() {
        cluster.close();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldCountEveryWordExactlyOnceWhenKilledInATransactionAndRestarted(ProducerKind kind) throws Exception {
        // given
        String counts = WordCount.topic(WordCount.COUNTS, kind);
        cluster.createTopic(WordCount.topic(WordCount.LINES, kind), PARTITIONS, 1, Map.of());
        cluster.createTopic(counts, PARTITIONS, 1, Map.of());
        Map<String, Integer> words;
        try (Feed feed = Feed.start(WordCount.topic(WordCount.LINES, kind))) {
            // when it is killed with a transaction open, or sometimes, by accident, between two transactions
            int kills = 0;
            do {
                try (JavaProgram program = start(kind)) {
                    awaitProgress(program, counts);
                    program.kill();
                    kills++;
                }
            } while (TopicContents.end(cluster, counts, IsolationLevel.READ_UNCOMMITTED)
                    == TopicContents.end(cluster, counts, IsolationLevel.READ_COMMITTED));
            System.out.println("KafkaStreamsIT: " + kind + " killed " + kills + " time(s)");

            // and goes on after a restart, until all words are counted
            try (JavaProgram program = start(kind)) {
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

    private JavaProgram start(ProducerKind kind) {
        return JavaProgram.start(
                JavaRuntime.ofThisJvm(),
                List.of("-Xmx512m", "-XX:TieredStopAtLevel=1"),
                WordCount.class,
                kind.name(),
                cluster.bootstrapServers(),
                state.toString());
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
