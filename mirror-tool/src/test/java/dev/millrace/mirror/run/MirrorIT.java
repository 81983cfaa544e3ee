package dev.millrace.mirror.run;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.StockProducers;
import dev.millrace.testkit.oracle.Comparison;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Mirrors as users run them, between real clusters. */
class MirrorIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final int PARTITIONS = 5;

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture();

    private final long seed = Long.getLong("millrace.seed", System.nanoTime());

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource
    void shouldCopyEveryRecordAsItIs(ProducerKind kind) throws Exception {
        String topic = topic("copied-" + kind.label());
        clusters.fill(topic, PARTITIONS, 20_000, seed);

        try (MirrorProcess mirror = clusters.mirror(topic, 3, kind)) {
            await("all is mirrored", () -> clusters.mirrored(topic) >= 20_000, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }

        assertThat(MirrorFixture.partitions(clusters.target(), topic)).isEqualTo(PARTITIONS);
        assertThat(clusters.compare(topic)).as("seed %d", seed).matches(Comparison::isExact);
    }

    @Tag("thorough")
    @ParameterizedTest
    @EnumSource
    void shouldLoseNothingWhenKilledMidway(ProducerKind kind) throws Exception {
        String topic = topic("killed-" + kind.label());
        int records = 100_000;
        clusters.fill(topic, PARTITIONS, records, seed);

        String quickToMissAMember = "session.timeout.ms=3000\nheartbeat.interval.ms=500\n";
        try (MirrorProcess mirror = clusters.mirror(topic, 3, kind, slowly(quickToMissAMember))) {
            await("some is committed", () -> clusters.committed(topic) > 0, mirror);
            mirror.kill().awaitExit(STOP);
        }
        assertThat(clusters.mirrored(topic)).isBetween(1L, records - 1L);
        long committed = clusters.committed(topic);
        try (MirrorProcess mirror = clusters.mirror(topic, 3, kind)) {
            await("all is committed", () -> clusters.committed(topic) >= records, mirror);
            mirror.terminate().awaitExit(STOP);
        }

        // The last copies are in order, because the second mirror gets the partitions only when the first one's session
        // has expired, seconds after its death. A lost member that is still alive could write, but this one is dead.
        Comparison comparison = clusters.compare(topic);
        assertThat(comparison).as("seed %d", seed).matches(Comparison::isCompleteWithDuplicates);
        assertThat(comparison.doubled()).isLessThanOrEqualTo(records - committed);
    }

    @Test
    void shouldDrainAndCommitOnSigterm() throws Exception {
        String topic = topic("stopped");
        int records = 100_000;
        clusters.fill(topic, PARTITIONS, records, seed);

        try (MirrorProcess mirror = clusters.mirror(topic, 3, ProducerKind.STOCK, slowly(""))) {
            await("some is mirrored", () -> clusters.mirrored(topic) > 0, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        assertThat(clusters.mirrored(topic)).isBetween(1L, records - 1L).isEqualTo(clusters.committed(topic));
        try (MirrorProcess mirror = clusters.mirror(topic, 3, ProducerKind.STOCK)) {
            await("all is mirrored", () -> clusters.mirrored(topic) >= records, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }

        assertThat(clusters.compare(topic)).as("seed %d", seed).matches(Comparison::isExact);
    }

    @Tag("thorough")
    @ParameterizedTest
    @EnumSource
    void shouldStopAtARecordThatCannotBeWrittenAndCommitNothingPastIt(ProducerKind kind) throws Exception {
        String topic = topic("refused-" + kind.label());
        clusters.target().createTopic(topic, PARTITIONS, 1, Map.of("max.message.bytes", "2000"));
        send(topic, 100, 500, 100);

        try (MirrorProcess mirror = clusters.mirror(topic, 1, kind, "--producer.config=" + smallBatches())) {
            assertThat(mirror.awaitExit(STOP)).as(mirror.output()).isEqualTo(1);
            assertThat(mirror.output())
                    .containsPattern(topic + " partition 0 offset 100\\b")
                    .doesNotContain("\tat ");
            if (kind == ProducerKind.MILLRACE) { // the stock producer tells of each batch that it sends again
                assertThat(mirror.output()).doesNotContain("[Producer clientId=");
            }
        }

        OffsetAndMetadata committed = clusters.positions(topic).get(new TopicPartition(topic, 0));
        assertThat(committed).isNotNull();
        assertThat(committed.offset()).isEqualTo(100);
    }

    @Tag("thorough")
    @Test
    void shouldLoseNothingWhenASecondMirrorJoinsTheGroup() throws Exception {
        String topic = topic("shared");
        int step = 2_000;
        clusters.fill(topic, PARTITIONS, step, seed);

        try (MirrorProcess first = clusters.mirror(topic, 2, ProducerKind.MILLRACE)) {
            await("the first is at work", () -> clusters.mirrored(topic) == step, first);
            long records = step;
            try (MirrorProcess second = clusters.mirror(topic, 2, ProducerKind.STOCK)) {
                while (members(topic)
                        < 3) { // One of the first, which fetches for both of its threads, and two of the second. //
                    // Records keep coming while partitions change hands.
                    clusters.fill(topic, PARTITIONS, step, seed + records);
                    records += step;
                }
                long atLeast = records;
                await("all is committed", () -> clusters.committed(topic) >= atLeast, first, second);
                assertThat(second.terminate().awaitExit(STOP))
                        .as(second.output())
                        .isZero();
            }
            clusters.fill(topic, PARTITIONS, step, seed - 1);
            long all = records + step;
            await("the rest too", () -> clusters.committed(topic) >= all, first);
            assertThat(first.terminate().awaitExit(STOP)).as(first.output()).isZero();
        }

        assertThat(clusters.compare(topic)).as("seed %d", seed).matches(Comparison::isExact);
    }

    @Test
    void shouldGrowTheTargetWithTheSource() throws Exception {
        String topic = topic("grown");
        clusters.target().createTopic(topic, 2, 1, Map.of());
        clusters.fill(topic, PARTITIONS, 1_000, seed);
        Path config = Files.writeString(folder.resolve("consumer.properties"), "metadata.max.age.ms=300\n");

        try (MirrorProcess mirror = clusters.mirror(topic, 2, ProducerKind.STOCK, "--consumer.config=" + config)) {
            await("all is mirrored", () -> clusters.mirrored(topic) >= 1_000, mirror);
            clusters.source().growTopic(topic, PARTITIONS + 2);
            clusters.fill(topic, PARTITIONS + 2, 1_000, seed + 1);
            await("the new partitions too", () -> clusters.mirrored(topic) >= 2_000, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }

        assertThat(clusters.compare(topic)).as("seed %d", seed).matches(Comparison::isExact);
    }

    @Tag("thorough")
    @Test
    void shouldTellWhenNoTopicMatches() throws Exception {
        topic("unwanted");

        try (MirrorProcess mirror = clusters.mirror("wanted", 1, ProducerKind.STOCK, "--wait-at-start=0")) {
            assertThat(mirror.awaitExit(STOP)).isEqualTo(1);
            assertThat(mirror.output()).hasLineCount(1).contains("'wanted'", "source's", "unwanted");
        }
        try (MirrorProcess mirror =
                clusters.mirror("wanted", 1, ProducerKind.STOCK, "--wait-at-start=0", "--verbose")) {
            assertThat(mirror.awaitExit(STOP)).isEqualTo(1);
            assertThat(mirror.output()).contains("'wanted'", "\tat ");
        }
    }

    @Test
    void shouldKeepPasswordsToItself() throws Exception {
        Path config = Files.writeString(folder.resolve("secret.properties"), """
                security.protocol=SASL_PLAINTEXT
                sasl.mechanism=PLAIN
                sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
                    username="me" password="open-sesame";
                ssl.truststore.password=open-sesame
                """);

        try (MirrorProcess mirror = clusters.mirror(
                "wanted", 1, ProducerKind.MILLRACE, "--wait-at-start=0", "--verbose", "--consumer.config=" + config)) {
            assertThat(mirror.awaitExit(STOP)).isEqualTo(1);
            assertThat(mirror.output()).contains("source cluster at ").doesNotContain("sesame");
        }
    }

    /** A topic on the source. */
    private static String topic(String name) {
        clusters.source().createTopic(name, PARTITIONS, 1, Map.of());
        return name;
    }

    private static int members(String group) {
        return MirrorFixture.get(clusters.source()
                        .admin()
                        .describeConsumerGroups(List.of(group))
                        .all())
                .get(group)
                .members()
                .size();
    }

    /** Slows the mirror down, so that the test can act midway. */
    private String slowly(String more) throws IOException {
        String config = MirrorFixture.slowConsumer() + more;
        return "--consumer.config=" + Files.writeString(folder.resolve("slow.properties"), config);
    }

    /** Small, so that a record that cannot be written shares its batch with no other: the outcome is then certain. */
    private Path smallBatches() throws IOException {
        return Files.writeString(folder.resolve("small.properties"), "batch.size=500\nlinger.ms=0\n");
    }

    /** Sends small records to partition 0 of the source, then one of 3,000 bytes, then small ones again. */
    private static void send(String topic, int before, int size, int after) {
        try (KafkaProducer<byte[], byte[]> producer =
                StockProducers.create(clusters.source().clientConfig())) {
            for (int i = 0; i < before + 1 + after; i++) {
                byte[] value = new byte[i == before ? 3_000 : size];
                MirrorFixture.get(producer.send(new ProducerRecord<>(topic, 0, null, value)));
            }
        }
    }
}
