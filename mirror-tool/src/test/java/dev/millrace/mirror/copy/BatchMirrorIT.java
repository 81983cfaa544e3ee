package dev.millrace.mirror.copy;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.StockProducers;
import dev.millrace.mirror.support.TopicsOfEveryKind;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.oracle.Comparison;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.ReplicaInfo;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Mirrors that fetch by themselves, as users run them, between real clusters. */
class BatchMirrorIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final int PARTITIONS = 5;
    private static final int STEP = 4_000;
    private static final List<String> CODECS = List.of("none", "gzip", "snappy", "lz4", "zstd");

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture();

    private final long seed = Long.getLong("millrace.seed", System.nanoTime());

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(names = "CONSUMER", mode = EnumSource.Mode.EXCLUDE)
    void shouldCopyEveryRecordOfAnyCodecAsItIs(CopyMode mode) throws Exception {
        String topic = topic("copied-" + mode, Map.of());
        for (String codec : CODECS) {
            clusters.fill(topic, PARTITIONS, STEP, seed, Map.of("compression.type", codec));
            clusters.fill(topic, PARTITIONS, 20, seed, Map.of("compression.type", codec, "linger.ms", 0));
        }
        long records = CODECS.size() * (STEP + 20L);

        try (MirrorProcess mirror = clusters.mirror(topic, 3, mode)) {
            await("all is mirrored", () -> clusters.mirrored(topic) >= records, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }

        assertThat(clusters.committed(topic)).isEqualTo(records);
        assertThat(clusters.compare(topic)).as("seed %d", seed).matches(Comparison::isExact);
    }

    @Tag("thorough")
    @ParameterizedTest
    @EnumSource(names = {"AUTO", "RECORDS"})
    void shouldNotGrowWhatTheSourceHasCompressedWhenSmallBatchesAreMerged(CopyMode mode) throws Exception {
        String topic = topic("compressed-" + mode, Map.of());
        int batches = 300;
        fillWithSmallBatches(topic, batches);

        try (MirrorProcess mirror = clusters.mirror(topic, 1, mode)) {
            await("all is committed", () -> clusters.committed(topic) == batches * 10L, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            assertThat(clusters.compare(topic)).matches(Comparison::isExact);
            assertThat(logBytes(clusters.target(), topic)).isLessThan(logBytes(clusters.source(), topic));
            assertThat(mirror.output())
                    .contains("0 passed as they came, " + batches + " opened")
                    .containsPattern("[0-9.]+ [kM]B were read, and [0-9.]+ [kM]B written");
        }
    }

    @Tag("thorough")
    @Test
    void shouldCompressMergedBatchesAsTheProducerIsToldWhenItIsTold() throws Exception {
        String topic = topic("decompressed", Map.of());
        fillWithSmallBatches(topic, 100);

        Path uncompressed = Files.writeString(folder.resolve("p.properties"), "compression.type=none\n");
        try (MirrorProcess mirror = clusters.mirror(topic, 1, CopyMode.AUTO, "--producer.config=" + uncompressed)) {
            await("all is committed", () -> clusters.committed(topic) == 1_000, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }

        assertThat(clusters.compare(topic)).matches(Comparison::isExact);
        assertThat(logBytes(clusters.target(), topic)).isGreaterThan(1_000 * 700L);
    }

    @Tag("thorough")
    @ParameterizedTest
    @EnumSource(names = {"BATCHES", "RECORDS"})
    void shouldCopyARecordThatIsLargerThanARequestOnlyUntilItIsCompressed(CopyMode mode) throws Exception {
        String topic = topic("large-" + mode, Map.of());
        Map<String, Object> config = new HashMap<>(clusters.source().clientConfig());
        config.putAll(Map.of("compression.type", "gzip", "max.request.size", 10_000_000));
        try (KafkaProducer<byte[], byte[]> producer = StockProducers.create(config)) {
            for (int size : List.of(10, 3_000_000, 20)) {
                MirrorFixture.get(producer.send(new ProducerRecord<>(topic, 0, null, new byte[size])));
            }
        }

        try (MirrorProcess mirror =
                clusters.mirror(topic, 1, mode, "--on-refused=skip", "--target-setting=max.request.size=1000000")) {
            await("all is committed", () -> clusters.committed(topic) == 3, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            assertThat(clusters.compare(topic)).as(mirror.output()).matches(Comparison::isExact);
        }
    }

    /** Of ten records that compress well each, with gzip. */
    private static void fillWithSmallBatches(String topic, int batches) {
        Map<String, Object> config = new HashMap<>(clusters.source().clientConfig());
        config.putAll(Map.of("compression.type", "gzip", "linger.ms", 10_000));
        try (KafkaProducer<byte[], byte[]> producer = StockProducers.create(config)) {
            for (int i = 0; i < batches; i++) {
                for (int record = 0; record < 10; record++) {
                    byte[] value = ("%05d".formatted(i) + "a".repeat(700)).getBytes(StandardCharsets.UTF_8);
                    producer.send(new ProducerRecord<>(topic, 0, null, value));
                }
                producer.flush();
            }
        }
    }

    private static long logBytes(KafkaCluster cluster, String topic) throws Exception {
        return cluster.admin().describeLogDirs(List.of(1)).allDescriptions().get().values().stream()
                .flatMap(folders -> folders.values().stream())
                .mapToLong(folder -> folder.replicaInfos()
                        .getOrDefault(new TopicPartition(topic, 0), new ReplicaInfo(0, 0, false))
                        .size())
                .sum();
    }

    @Tag("thorough")
    @ParameterizedTest
    @EnumSource(names = {"BATCHES", "RECORDS"})
    void shouldCopyTopicsOfEveryKindInOneRunAndHaveNoLagBeforeAnOpenTransaction(CopyMode mode) throws Exception {
        String prefix = "kinds-" + mode + "-";
        String group = prefix + ".*";
        try (TopicsOfEveryKind topics = new TopicsOfEveryKind(clusters, prefix, seed);
                MirrorProcess mirror = clusters.mirror(group, 3, mode, "--status=1")) {
            long stable = topics.names().stream().mapToLong(clusters::stable).sum();
            await("all is committed", () -> clusters.committed(group) == stable, mirror);
            await("there is no lag", () -> mirror.hasPrinted("| lag 0 |"), mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();

            assertThat(mirror.output()).contains("log append time", "too large");
            for (String topic : topics.names()) {
                assertThat(clusters.compareCommitted(topic))
                        .as("%s, seed %d", topic, seed)
                        .matches(Comparison::isExact);
            }
        }
    }

    @Tag("thorough")
    @ParameterizedTest
    @EnumSource(names = {"BATCHES", "RECORDS"})
    void shouldLoseNothingWhenKilledMidway(CopyMode mode) throws Exception {
        String topic = topic("killed-" + mode, Map.of());
        int records = 100_000;
        clusters.fill(topic, PARTITIONS, records, seed);

        String quickToMissAMember = "session.timeout.ms=3000\nheartbeat.interval.ms=500\n";
        try (MirrorProcess mirror = clusters.mirror(topic, 3, mode, slowly(quickToMissAMember))) {
            await("some is committed", () -> clusters.committed(topic) > 0, mirror);
            mirror.kill().awaitExit(STOP);
        }
        assertThat(clusters.mirrored(topic)).isBetween(1L, records - 1L);
        long committed = clusters.committed(topic);
        try (MirrorProcess mirror = clusters.mirror(topic, 3, mode)) {
            await("all is committed", () -> clusters.committed(topic) >= records, mirror);
            mirror.terminate().awaitExit(STOP);
        }

        Comparison comparison = clusters.compare(topic);
        assertThat(comparison).as("seed %d", seed).matches(Comparison::isCompleteWithDuplicates);
        assertThat(comparison.doubled()).isLessThanOrEqualTo(records - committed);
    }

    @Tag("thorough")
    @ParameterizedTest
    @EnumSource(names = {"BATCHES", "RECORDS"})
    void shouldDrainAndCommitOnSigterm(CopyMode mode) throws Exception {
        String topic = topic("stopped-" + mode, Map.of());
        int records = 100_000;
        clusters.fill(topic, PARTITIONS, records, seed);

        try (MirrorProcess mirror = clusters.mirror(topic, 3, mode, slowly("metadata.max.age.ms=100\n"))) {
            await("some is mirrored", () -> clusters.mirrored(topic) > 10_000, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            assertThat(mirror.output()).as("a source that throttles").doesNotContain("bootstrap.servers");
        }
        assertThat(clusters.mirrored(topic)).isBetween(1L, records - 1L).isEqualTo(clusters.committed(topic));
        try (MirrorProcess mirror = clusters.mirror(topic, 3, mode)) {
            await("all is mirrored", () -> clusters.mirrored(topic) >= records, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }

        assertThat(clusters.compare(topic)).as("seed %d", seed).matches(Comparison::isExact);
    }

    @Tag("thorough")
    @ParameterizedTest
    @EnumSource(names = {"BATCHES", "RECORDS"})
    void shouldCopyCommittedTransactionsOnly(CopyMode mode) throws Exception {
        String topic = topic("transactions-" + mode, Map.of());
        Map<String, Object> config = new HashMap<>(clusters.source().clientConfig());
        config.put("transactional.id", topic);
        int each = 50;
        try (KafkaProducer<byte[], byte[]> producer = StockProducers.create(config)) {
            producer.initTransactions();
            for (int transaction = 0; transaction < 20; transaction++) {
                producer.beginTransaction();
                for (int i = 0; i < each; i++) {
                    byte[] value = (transaction + ":" + i).getBytes(java.nio.charset.StandardCharsets.UTF_8);
                    producer.send(new ProducerRecord<>(topic, i % PARTITIONS, value, value));
                }
                producer.flush();
                if (transaction % 3 == 0) {
                    producer.abortTransaction();
                } else {
                    producer.commitTransaction();
                }
                clusters.fill(topic, PARTITIONS, each, seed + transaction);
            }
        }
        int records = 33 * each; // 20 fillings and 13 committed transactions
        Path committed = Files.writeString(folder.resolve("c.properties"), "isolation.level=read_committed\n");

        try (MirrorProcess mirror = clusters.mirror(topic, 2, mode, "--consumer.config=" + committed)) {
            await("all is mirrored", () -> clusters.mirrored(topic) >= records, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }

        assertThat(clusters.mirrored(topic)).isEqualTo(records); // no markers, no aborted records
        assertThat(clusters.compareCommitted(topic)).as("seed %d", seed).matches(Comparison::isExact);
    }

    @Tag("thorough")
    @ParameterizedTest
    @EnumSource(names = {"BATCHES", "RECORDS"})
    void shouldCopyWhatTheTargetStoresInAnotherForm(CopyMode mode) throws Exception {
        String topic = topic("converted-" + mode, Map.of());
        clusters.target()
                .createTopic(topic, PARTITIONS, 1, Map.of("compression.type", "lz4", "max.message.bytes", "3000"));
        clusters.fill(topic, PARTITIONS, STEP, seed, Map.of("compression.type", "zstd", "linger.ms", 20));
        Path small = Files.writeString(folder.resolve("p.properties"), "batch.size=1000\ncompression.type=lz4\n");

        try (MirrorProcess mirror = clusters.mirror(topic, 2, mode, "--producer.config=" + small)) {
            await("all is mirrored", () -> clusters.mirrored(topic) >= STEP, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }

        assertThat(clusters.compare(topic)).as("seed %d", seed).matches(Comparison::isExact);
    }

    @Tag("thorough")
    @Test
    void shouldStopAtABatchThatCannotBeWrittenAndCommitNothingPastIt() throws Exception {
        String topic = topic("refused", Map.of());
        clusters.target().createTopic(topic, PARTITIONS, 1, Map.of("max.message.bytes", "2000"));
        try (KafkaProducer<byte[], byte[]> producer =
                StockProducers.create(clusters.source().clientConfig())) {
            for (int i = 0; i < 200; i++) {
                MirrorFixture.get(
                        producer.send(new ProducerRecord<>(topic, 0, null, new byte[i == 100 ? 3_000 : 500])));
            }
        }

        try (MirrorProcess mirror = clusters.mirror(topic, 1, CopyMode.BATCHES)) {
            assertThat(mirror.awaitExit(STOP)).as(mirror.output()).isEqualTo(1);
            assertThat(mirror.output())
                    .contains(topic + " partition 0 offset 100 ")
                    .doesNotContain("\tat ");
        }

        assertThat(clusters.positions(topic).get(new TopicPartition(topic, 0)).offset())
                .isEqualTo(100);
    }

    @Tag("thorough")
    @Test
    void shouldLoseNothingWhenASecondMirrorJoinsTheGroup() throws Exception {
        String topic = topic("shared", Map.of());
        clusters.fill(topic, PARTITIONS, STEP, seed);

        try (MirrorProcess first = clusters.mirror(topic, 2, CopyMode.BATCHES)) {
            await("the first is at work", () -> clusters.mirrored(topic) == STEP, first);
            long records = STEP;
            try (MirrorProcess second = clusters.mirror(topic, 2, CopyMode.AUTO)) {
                while (members(topic) < 2) { // Records keep coming while partitions change hands.
                    clusters.fill(topic, PARTITIONS, STEP, seed + records);
                    records += STEP;
                }
                long atLeast = records;
                await("all is committed", () -> clusters.committed(topic) >= atLeast, first, second);
                assertThat(second.terminate().awaitExit(STOP))
                        .as(second.output())
                        .isZero();
            }
            clusters.fill(topic, PARTITIONS, STEP, seed - 1);
            long all = records + STEP;
            await("the rest too", () -> clusters.committed(topic) >= all, first);
            assertThat(first.terminate().awaitExit(STOP)).as(first.output()).isZero();
        }

        assertThat(clusters.compare(topic)).as("seed %d", seed).matches(Comparison::isExact);
    }

    @Test
    void shouldTellThatTheStockProducerTakesNoBatches() throws Exception {
        try (MirrorProcess mirror = clusters.mirror("any", 1, ProducerKind.STOCK, "--mode=auto")) {
            assertThat(mirror.awaitExit(STOP)).isEqualTo(2);
            assertThat(mirror.output()).contains("--mode auto --producer stock");
        }
    }

    /** A topic on the source. */
    private static String topic(String name, Map<String, String> config) {
        clusters.source().createTopic(name, PARTITIONS, 1, config);
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
    private String slowly(String more) throws Exception {
        String config = MirrorFixture.slowConsumer() + more;
        return "--consumer.config=" + Files.writeString(folder.resolve("slow.properties"), config);
    }
}
