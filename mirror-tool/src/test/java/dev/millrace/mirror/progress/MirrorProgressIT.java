package dev.millrace.mirror.progress;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.CopyMode;
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
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a mirror commits, and how it ends, when topics are deleted, records are refused or the source is down. */
@Tag("thorough")
class MirrorProgressIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    /** Far less than the minute for which a consumer tries to commit. */
    private static final Duration NO_STALL = Duration.ofSeconds(25);

    private static final int PARTITIONS = 4;

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture();

    private final long seed = System.nanoTime();

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource
    void shouldWriteNothingTwiceWhenItIsRestartedAtARecordThatIsRefused(ProducerKind kind) throws Exception {
        String topic = "refused-" + kind.label();
        int before = 900;
        clusters.source().createTopic(topic, 2, 1, Map.of());
        send(topic, 1, 10, 100);
        send(topic, 0, before, 100);
        send(topic, 0, 1, 3_000);
        // Long enough for the large record to be refused while all before it wait to be sent.
        Path config =
                Files.writeString(folder.resolve("producer.properties"), "max.request.size=2000\nlinger.ms=1000\n");

        for (int start = 0; start < 3; start++) {
            try (MirrorProcess mirror = clusters.mirror(topic, 1, kind, "--producer.config=" + config)) {
                assertThat(mirror.awaitExit(STOP)).as(mirror.output()).isEqualTo(1);
                assertThat(mirror.output()).containsPattern(topic + " partition 0 offset " + before + "\\b");
            }
            // It depends on the source whether the records of the other partition are read before.
            assertThat(clusters.mirrored(topic)).as("after start %d", start).isBetween(before + 0L, before + 10L);
            assertThat(clusters.committed(topic)).as("after start %d", start).isEqualTo(clusters.mirrored(topic));
        }
    }

    @Test
    void shouldMirrorTheOthersWithoutDelayAndEndWellWhenATopicIsDeleted() throws Exception {
        String topics = "gone-.*";
        clusters.source().createTopic("gone-deleted", PARTITIONS, 1, Map.of());
        clusters.source().createTopic("gone-kept", PARTITIONS, 1, Map.of());
        clusters.fill("gone-deleted", PARTITIONS, 1_000, seed);
        clusters.fill("gone-kept", PARTITIONS, 1_000, seed);

        try (MirrorProcess mirror = clusters.mirror(topics, 2, CopyMode.CONSUMER)) {
            await("both are mirrored", () -> clusters.committed(topics) >= 2_000, mirror);
            long start = System.nanoTime();
            delete("gone-deleted");
            for (int more = 1; System.nanoTime() - start < NO_STALL.toNanos() / 2; more++) {
                clusters.fill("gone-kept", PARTITIONS, 1_000, seed + more);
                long all = (more + 1) * 1_000L;
                long step = System.nanoTime();
                await("the other goes on", () -> clusters.mirrored("gone-kept") >= all, mirror);
                assertThat(Duration.ofNanos(System.nanoTime() - step)).isLessThan(NO_STALL);
            }
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            assertThat(mirror.output()).contains("Topic gone-deleted has gone from the source");
        }

        assertThat(clusters.compare("gone-kept")).as("seed %d", seed).matches(Comparison::isExact);
        assertThat(committed(topics, "gone-kept")).isEqualTo(clusters.mirrored("gone-kept"));
    }

    @Test
    void shouldEndWellWhenItIsStoppedJustAfterATopicIsDeleted() throws Exception {
        String topics = "late-.*";
        clusters.source().createTopic("late-deleted", PARTITIONS, 1, Map.of());
        clusters.source().createTopic("late-kept", PARTITIONS, 1, Map.of());
        clusters.fill("late-deleted", PARTITIONS, 50_000, seed);
        clusters.fill("late-kept", PARTITIONS, 50_000, seed);

        try (MirrorProcess mirror = clusters.mirror(topics, 2, ProducerKind.STOCK, slowly())) {
            await("some is mirrored", () -> clusters.mirrored("late-kept") > 0, mirror);
            await("some of the other, too", () -> clusters.mirrored("late-deleted") > 0, mirror);
            delete("late-deleted");
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }

        assertThat(committed(topics, "late-kept")).isEqualTo(clusters.mirrored("late-kept"));
    }

    @Test
    void shouldEndWellWhenTheSourceIsDownAndAllIsCommitted() throws Exception {
        String topic = "down";
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
        clusters.fill(topic, PARTITIONS, 1_000, seed);

        try (MirrorProcess mirror = clusters.mirror(topic, 2, ProducerKind.MILLRACE)) {
            await("all is committed", () -> clusters.committed(topic) >= 1_000, mirror);
            clusters.source().stop(1);
            try {
                assertThat(mirror.terminate().awaitExit(STOP))
                        .as(mirror.output())
                        .isZero();
                assertThat(mirror.output()).contains("; 0 sent but not acknowledged");
            } finally {
                clusters.source().restart(1);
            }
        }
    }

    private static long committed(String group, String topic) {
        return clusters.positions(group).entrySet().stream()
                .filter(entry -> entry.getKey().topic().equals(topic))
                .mapToLong(entry -> entry.getValue().offset())
                .sum();
    }

    private static void delete(String topic) {
        MirrorFixture.get(clusters.source().admin().deleteTopics(List.of(topic)).all());
    }

    private String slowly() throws IOException {
        return "--consumer.config="
                + Files.writeString(folder.resolve("slow.properties"), MirrorFixture.slowConsumer());
    }

    private static void send(String topic, int partition, int records, int size) {
        try (KafkaProducer<byte[], byte[]> producer =
                StockProducers.create(clusters.source().clientConfig())) {
            for (int i = 0; i < records; i++) {
                producer.send(new ProducerRecord<>(topic, partition, null, new byte[size]));
            }
            producer.flush();
        }
    }
}
