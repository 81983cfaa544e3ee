package dev.millrace.mirror.refused;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.config.ResumeMode;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.StockProducers;
import dev.millrace.mirror.support.StoredBatch;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Future;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The target refuses records: they are too large for its topic, have no key where it compacts, or a time to come. Or the
 * source has a batch that cannot be read.
 */
@Tag("thorough")
class MirrorRefusedIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final int RECORDS = 300;
    private static final int LARGE = 5_000;
    private static final long FUTURE_MS = Duration.ofDays(400).toMillis();

    /** The first and the last, some that follow one another, and some by themselves. */
    private static final Set<Integer> REFUSED = new TreeSet<>(Set.of(0, 7, 8, 9, 11, 150, RECORDS - 1));

    @TempDir
    private static Path sourceData;

    @AutoClose
    private static MirrorFixture clusters;

    @BeforeAll
    static void startClusters() {
        clusters = new MirrorFixture(source -> source.dataFolder(1, sourceData.resolve("1")), target -> target);
    }

    @Test
    void shouldDoWhatThePolicyOfEachTopicSaysAndWriteAllOthersOnceAndInOrder() throws Exception {
        Map<CopyMode, MirrorProcess> mirrors = new EnumMap<>(CopyMode.class);
        try {
            for (CopyMode mode : CopyMode.values()) {
                topics(large(mode), Map.of("max.message.bytes", "2000"));
                topics(keyless(mode), Map.of("cleanup.policy", "compact"));
                topics(future(mode), Map.of("message.timestamp.after.max.ms", "86400000"));
                fill(large(mode), keyless(mode), future(mode));
                mirrors.put(mode, mirrorAll(mode));
            }
            for (CopyMode mode : CopyMode.values()) {
                awaitAllCommitted(mirrors.get(mode), mode);
                assertThat(mirrors.get(mode).terminate().awaitExit(STOP)).isZero();
                assertMirrored(mode, mirrors.get(mode).output());
            }
        } finally {
            mirrors.values().forEach(MirrorProcess::close);
        }
    }

    private static String large(CopyMode mode) {
        return mode + "-large";
    }

    private static String keyless(CopyMode mode) {
        return mode + "-keyless";
    }

    private static String future(CopyMode mode) {
        return mode + "-future";
    }

    private static void assertMirrored(CopyMode mode, String output) {
        assertThat(read(clusters.target(), large(mode), 0)).as(output).isEqualTo(expected(RECORDS));
        assertThat(read(clusters.target(), large(mode), 1)).as(output).isEqualTo(all(RECORDS));
        assertThat(read(clusters.target(), keyless(mode), 0)).as(output).isEqualTo(expected(RECORDS));
        assertThat(read(clusters.target(), future(mode), 0)).as(output).isEqualTo(all(150)); // its bad one is the 150th
        assertThat(read(clusters.target(), future(mode), 1)).as(output).isEqualTo(all(RECORDS));
        assertDeadLetters(large(mode));
        assertThat(output)
                .containsOnlyOnce("Topic " + large(mode) + " partition 0 offset 0 cannot be written to the target, and"
                        + " is written to " + large(mode) + ".dead-letter instead")
                .containsOnlyOnce("Topic " + keyless(mode) + " partition 0 offset 0 cannot be written to the target,"
                        + " and is skipped")
                .containsOnlyOnce("Topic " + future(mode) + " partition 0 offset 150 cannot be written to the target."
                        + " The mirror stops this partition")
                .contains("14 records could not be written to their topics on the target: 7 are dead letters, 7 were"
                        + " skipped");
    }

    /** It is too large for the target until it is compressed, and its batch has another record that is refused. */
    @Test
    void shouldCopyALargeRecordOfABatchInWhichAnotherIsRefused() throws Exception {
        String topic = topics("compressed", Map.of("message.timestamp.after.max.ms", "86400000"));
        Map<String, Object> config = clusters.source().clientConfig();
        config.put("compression.type", "gzip");
        config.put("linger.ms", 1_000);
        config.put("batch.size", 10_000_000);
        config.put("max.request.size", 20_000_000);
        List<String> values = List.of("v0", "v1" + " ".repeat(3_000_000), "v2", "v3");
        List<Future<?>> results = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer = StockProducers.create(config)) {
            for (int number = 0; number < values.size(); number++) {
                long timestamp = System.currentTimeMillis() + (number == 2 ? FUTURE_MS : 0);
                results.add(producer.send(new ProducerRecord<>(
                        topic, 0, timestamp, null, values.get(number).getBytes(UTF_8))));
            }
        }
        results.forEach(MirrorFixture::get);

        try (MirrorProcess mirror = mirror(topic, CopyMode.BATCHES, "--on-refused=skip")) {
            awaitCommitted(mirror, topic, 0, values.size());
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }

        assertThat(read(clusters.target(), topic, 0)).containsExactly("v0", "v1", "v3");
        assertThat(records(clusters.target(), topic, 0).get(1).serializedValueSize())
                .isEqualTo(values.get(1).length());
    }

    /** What is refused leaves no hole by which the next process would count wrongly. */
    @Test
    void shouldWriteNothingTwiceAfterAKillInTheMiddle(@TempDir Path folder) throws Exception {
        String quickToMissAMember = "session.timeout.ms=1500\nheartbeat.interval.ms=300\n";
        String config =
                "--consumer.config=" + Files.writeString(folder.resolve("consumer.properties"), quickToMissAMember);
        String topic = topics("killed", Map.of("max.message.bytes", "2000"));
        int parts = 2;
        for (int part = 0; part < parts; part++) {
            write(topic, 0, part * RECORDS, number -> number % RECORDS % 20 == 0, false);
        }
        String letters = topic + ".dead-letter";
        try (MirrorProcess mirror = mirror(topic, CopyMode.AUTO, config, "--on-refused=dead-letter")) {
            await("some are refused", () -> clusters.mirrored(letters) >= 10, mirror);
            mirror.kill();
            assertThat(mirror.awaitExit(STOP)).isNotZero();
        }
        try (MirrorProcess mirror = mirror(topic, CopyMode.AUTO, config, "--on-refused=dead-letter")) {
            awaitCommitted(mirror, topic, 0, (long) parts * RECORDS);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        List<String> refused = all(parts * RECORDS).stream()
                .filter(value -> number(value) % RECORDS % 20 == 0)
                .toList();
        List<String> others = new ArrayList<>(all(parts * RECORDS));
        others.removeAll(refused);
        assertThat(read(clusters.target(), topic, 0)).isEqualTo(others);
        assertThat(new LinkedHashSet<>(read(clusters.target(), letters, 0))).containsExactlyElementsOf(refused);
    }

    @Test
    void shouldDoWhatThePolicySaysWithABatchThatCannotBeRead() throws Exception {
        Map<ResumeMode, MirrorProcess> mirrors = new EnumMap<>(ResumeMode.class);
        Map<String, StoredBatch> corrupt = new HashMap<>();
        try {
            for (ResumeMode resume : List.of(ResumeMode.EXACT, ResumeMode.AT_LEAST_ONCE)) {
                for (String policy : List.of("letter", "skip", "halt")) {
                    String topic = topics(resume + "-" + policy, Map.of());
                    for (int part = 0; part < 3; part++) {
                        write(topic, 0, part * RECORDS, number -> false, false);
                    }
                    if (policy.equals("halt")) {
                        write(topic, 1, 0, number -> false, false);
                    }
                    corrupt.put(topic, StoredBatch.corrupt(sourceData.resolve("1"), topic, RECORDS + RECORDS / 2));
                }
                mirrors.put(resume, mirrorOfPolicies(resume + "-.*", CopyMode.BATCHES, resume));
            }
            for (ResumeMode resume : mirrors.keySet()) {
                MirrorProcess mirror = mirrors.get(resume);
                String group = resume + "-.*";
                awaitCommitted(mirror, group, resume + "-letter", 0, 3 * RECORDS);
                awaitCommitted(mirror, group, resume + "-skip", 0, 3 * RECORDS);
                awaitCommitted(
                        mirror,
                        group,
                        resume + "-halt",
                        0,
                        corrupt.get(resume + "-halt").from());
                awaitCommitted(mirror, group, resume + "-halt", 1, RECORDS);
                await("it says that a partition is stopped", () -> mirror.hasPrinted("stops this partition"), mirror);
                assertThat(mirror.terminate().awaitExit(STOP))
                        .as(mirror.output())
                        .isZero();
            }
        } finally {
            mirrors.values().forEach(MirrorProcess::close);
        }
        corrupt.forEach((topic, batch) -> {
            List<String> others = new ArrayList<>(all(3 * RECORDS));
            others.subList(batch.from(), topic.endsWith("halt") ? others.size() : batch.next())
                    .clear();
            assertThat(read(clusters.target(), topic, 0)).as(topic).isEqualTo(others);
            if (topic.endsWith("halt")) {
                assertThat(read(clusters.target(), topic, 1)).as(topic).isEqualTo(all(RECORDS));
            }
            if (topic.endsWith("letter")) {
                assertThat(records(clusters.target(), topic + ".dead-letter", 0))
                        .singleElement()
                        .satisfies(letter -> {
                            assertThat(letter.value()).isEqualTo(batch.bytes());
                            assertThat(header(letter, "offset")).isEqualTo(Integer.toString(batch.from()));
                            assertThat(header(letter, "batch.next.offset")).isEqualTo(Integer.toString(batch.next()));
                            assertThat(header(letter, "exception.class.name"))
                                    .isEqualTo("org.apache.kafka.common.errors.CorruptRecordException");
                        });
            }
        });
    }

    @Test
    void shouldFindTheVeryRecordsThatAreRefusedWithResumeAtLeastOnceToo() throws Exception {
        String topic = topics("again-letter", Map.of("max.message.bytes", "2000"));
        write(topic, 0, 0, REFUSED::contains, false);
        try (MirrorProcess mirror = mirrorOfPolicies(topic, CopyMode.AUTO, ResumeMode.AT_LEAST_ONCE)) {
            awaitCommitted(mirror, topic, 0, RECORDS);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        assertThat(read(clusters.target(), topic, 0)).isEqualTo(expected(RECORDS));
        assertDeadLetters(topic);
    }

    @Test
    void shouldCreateTheTopicOfDeadLettersAgainThatWasDeleted() throws Exception {
        String topic = topics("deleted-letter", Map.of("max.message.bytes", "2000"));
        String letters = topic + ".dead-letter";
        write(topic, 0, 0, REFUSED::contains, false);
        try (MirrorProcess mirror = mirrorOfPolicies(topic, CopyMode.AUTO, ResumeMode.EXACT)) {
            awaitCommitted(mirror, topic, 0, RECORDS);
            clusters.target().admin().deleteTopics(List.of(letters)).all().get();

            write(topic, 0, RECORDS, number -> REFUSED.contains(number - RECORDS), false);

            awaitCommitted(mirror, topic, 0, 2 * RECORDS);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        assertThat(records(clusters.target(), letters, 0)).hasSameSizeAs(REFUSED);
    }

    /** Else the next mirror, for which the target takes the record, would write it after records that follow it. */
    @ParameterizedTest
    @EnumSource(names = {"CONSUMER", "AUTO", "BATCHES"})
    void shouldWriteNothingAfterTheRecordThatEndsTheMirror(CopyMode mode) throws Exception {
        String topic = topics("ended-by-" + mode, Map.of("max.message.bytes", "2000"));
        write(topic, 0, 0, number -> number == 150, false);
        try (MirrorProcess mirror = mirror(topic, mode, "--resume=at-least-once")) {
            assertThat(mirror.awaitExit(STOP)).as(mirror.output()).isEqualTo(1);
            assertThat(mirror.output()).contains("Could not write " + topic + " partition 0 offset ");
        }
        assertThat(read(clusters.target(), topic, 0)).isEqualTo(all(150));

        clusters.target()
                .admin()
                .incrementalAlterConfigs(Map.of(
                        new ConfigResource(ConfigResource.Type.TOPIC, topic),
                        List.of(new AlterConfigOp(
                                new ConfigEntry("max.message.bytes", "100000"), AlterConfigOp.OpType.SET))))
                .all()
                .get();
        try (MirrorProcess mirror = mirror(topic, mode, "--resume=at-least-once")) {
            awaitCommitted(mirror, topic, 0, RECORDS);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        // Where a source batch is acknowledged as a whole, its first records are there twice.
        assertThat(new LinkedHashSet<>(read(clusters.target(), topic, 0))).containsExactlyElementsOf(all(RECORDS));
    }

    /** By the end of the topic's name. */
    private static MirrorProcess mirrorOfPolicies(String topics, CopyMode mode, ResumeMode resume) {
        return mirror(
                topics,
                mode,
                "--resume=" + resume,
                "--on-refused=.*-letter=dead-letter",
                "--on-refused=.*-halt=stop-partition",
                "--on-refused=.*-skip=skip");
    }

    private static int number(String value) {
        return Integer.parseInt(value.substring(1));
    }

    private static void assertDeadLetters(String topic) {
        List<ConsumerRecord<byte[], byte[]>> letters = records(clusters.target(), topic + ".dead-letter", 0);
        List<ConsumerRecord<byte[], byte[]>> originals = records(clusters.source(), topic, 0).stream()
                .filter(record -> REFUSED.contains((int) record.offset()))
                .toList();
        assertThat(letters).hasSameSizeAs(originals);
        for (int i = 0; i < letters.size(); i++) {
            ConsumerRecord<byte[], byte[]> original = originals.get(i);
            ConsumerRecord<byte[], byte[]> letter = letters.get(i);
            assertThat(letter.key()).isEqualTo(original.key());
            assertThat(letter.value()).isEqualTo(original.value());
            assertThat(letter.headers().lastHeader("own").value())
                    .isEqualTo(original.headers().lastHeader("own").value());
            assertThat(header(letter, "topic")).isEqualTo(topic);
            assertThat(header(letter, "partition")).isEqualTo("0");
            assertThat(header(letter, "offset")).isEqualTo(Long.toString(original.offset()));
            assertThat(header(letter, "timestamp")).isEqualTo(Long.toString(original.timestamp()));
            assertThat(header(letter, "exception.class.name"))
                    .isEqualTo("org.apache.kafka.common.errors.RecordTooLargeException");
            assertThat(header(letter, "exception.message")).isNotBlank();
        }
    }

    private static String header(ConsumerRecord<?, ?> letter, String name) {
        return new String(letter.headers().lastHeader(DeadLetters.PREFIX + name).value(), UTF_8);
    }

    private static MirrorProcess mirrorAll(CopyMode mode) {
        return mirror(
                mode + "-.*",
                mode,
                "--on-refused=.*-large=dead-letter",
                "--on-refused=.*-future=stop-partition",
                "--on-refused=skip");
    }

    private static void awaitAllCommitted(MirrorProcess mirror, CopyMode mode) {
        for (String topic : List.of(large(mode), keyless(mode))) {
            awaitCommitted(mirror, mode + "-.*", topic, 0, RECORDS);
            awaitCommitted(mirror, mode + "-.*", topic, 1, RECORDS);
        }
        awaitCommitted(mirror, mode + "-.*", future(mode), 0, 150);
        awaitCommitted(mirror, mode + "-.*", future(mode), 1, RECORDS);
        await("it says that a partition is stopped", () -> mirror.hasPrinted("stops this partition"), mirror);
    }

    private static MirrorProcess mirror(String topics, CopyMode mode, String... more) {
        return clusters.mirror(topics, 2, mode, more);
    }

    private static void awaitCommitted(MirrorProcess mirror, String topic, int partition, long offset) {
        awaitCommitted(mirror, topic, topic, partition, offset);
    }

    private static void awaitCommitted(MirrorProcess mirror, String group, String topic, int partition, long offset) {
        await(
                topic + "-" + partition + " is committed up to " + offset,
                () -> {
                    OffsetAndMetadata committed = clusters.positions(group).get(new TopicPartition(topic, partition));
                    return committed != null && committed.offset() == offset;
                },
                mirror);
    }

    /** Creates it with two partitions on both clusters, with these settings on the target. */
    private static String topics(String name, Map<String, String> settings) {
        clusters.source()
                .createTopic(name, 2, 1, Map.of("message.timestamp.after.max.ms", Long.toString(Long.MAX_VALUE)));
        clusters.target().createTopic(name, 2, 1, settings);
        return name;
    }

    private static void fill(String large, String keyless, String future) {
        write(large, 0, 0, REFUSED::contains, false);
        write(keyless, 0, 0, number -> false, true);
        write(future, 0, 0, number -> false, false);
        for (String topic : List.of(large, keyless, future)) {
            write(topic, 1, 0, number -> false, false);
        }
    }

    /** Appends numbered records, as many in a batch as fit. */
    private static void write(String topic, int partition, int first, IntPredicate isLarge, boolean isKeyless) {
        Map<String, Object> config = clusters.source().clientConfig();
        config.put("linger.ms", 100);
        config.put("max.request.size", 1_000_000);
        boolean isFuture = topic.endsWith("future") && partition == 0;
        List<Future<?>> results = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer = StockProducers.create(config)) {
            for (int number = first; number < first + RECORDS; number++) {
                byte[] key = isKeyless && REFUSED.contains(number) ? null : ("k" + number).getBytes(UTF_8);
                String filler = isLarge.test(number) ? " ".repeat(LARGE) : "";
                long timestamp = System.currentTimeMillis() + (isFuture && number == 150 ? FUTURE_MS : 0);
                results.add(producer.send(new ProducerRecord<>(
                        topic,
                        partition,
                        timestamp,
                        key,
                        ("v" + number + filler).getBytes(UTF_8),
                        new RecordHeaders().add("own", ("h" + number).getBytes(UTF_8)))));
            }
        }
        results.forEach(MirrorFixture::get);
    }

    private static List<String> all(int count) {
        return IntStream.range(0, count).mapToObj(number -> "v" + number).toList();
    }

    private static List<String> expected(int count) {
        return IntStream.range(0, count)
                .filter(number -> !REFUSED.contains(number))
                .mapToObj(number -> "v" + number)
                .toList();
    }

    private static List<String> read(KafkaCluster cluster, String topic, int partition) {
        return records(cluster, topic, partition).stream()
                .map(record -> new String(record.value(), UTF_8).strip())
                .toList();
    }

    private static List<ConsumerRecord<byte[], byte[]>> records(KafkaCluster cluster, String topic, int partition) {
        TopicPartition from = new TopicPartition(topic, partition);
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(cluster.clientConfig(), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(List.of(from));
            consumer.seekToBeginning(List.of(from));
            long end = consumer.endOffsets(List.of(from)).get(from);
            while (consumer.position(from) < end) {
                consumer.poll(Duration.ofMillis(100)).forEach(records::add);
            }
        }
        return records;
    }
}
