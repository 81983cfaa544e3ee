package dev.millrace.mirror.copy;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.MillraceProducer;
import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.oracle.Comparison;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Mirrors that fetch by themselves, while brokers of both clusters and the mirrors are killed, and leaders move. */
@Tag("thorough")
class BatchMirrorFaultsIT {
    private static final Duration STOP = Duration.ofSeconds(60);
    private static final int PARTITIONS = 6;
    /** At each step at least so many records come after the fault. */
    private static final long MORE = 1_000;

    /** Old records, too, next to new ones without a new segment. */
    private static final Map<String, String> KEEPS_ALL =
            Map.of("retention.ms", "-1", "segment.ms", String.valueOf(Long.MAX_VALUE));

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture(builder -> builder.brokers(2));

    private final long seed = Long.getLong("millrace.seed", System.nanoTime());
    private final Map<CopyMode, MirrorProcess> mirrors = new TreeMap<>();
    /** How old the records are that are written next. */
    private volatile Duration age = Duration.ZERO;

    @TempDir
    private Path folder;

    @Test
    void shouldLoseAndReorderNothingWhenBrokersAndMirrorsAreKilledAndLeadersMove() throws Exception {
        List<CopyMode> modes = List.of(CopyMode.BATCHES, CopyMode.RECORDS);
        for (CopyMode mode : modes) {
            clusters.source().createTopic(topic(mode), replicas(), KEEPS_ALL);
            clusters.target().createTopic(topic(mode), replicas(), KEEPS_ALL);
        }
        AtomicBoolean isLoading = new AtomicBoolean(true);
        CompletableFuture<Void> load = CompletableFuture.runAsync(() -> load(modes, isLoading));
        try {
            modes.forEach(this::start);
            awaitMore();

            clusters.source().kill(2);
            killMirrors();
            modes.forEach(this::start);
            awaitMore();
            clusters.target().kill(2);
            awaitMore();
            restart(clusters.source(), 2);
            restart(clusters.target(), 2);
            awaitMore();

            clusters.target().kill(1); // the controller: no leader moves until it is back
            killMirrors();
            restart(clusters.target(), 1);
            modes.forEach(this::start);
            clusters.source().kill(1);
            restart(clusters.source(), 1);
            awaitMore();
            killMirrors();
            modes.forEach(this::start);
            awaitMore();

            // Brokers forget who has written old records whenever they load a log. Only the target is disturbed now:
            // the producer that writes to the source could not tell either what a broker has written of them.
            for (int days : List.of(2, 1_000)) {
                age = Duration.ofDays(days);
                awaitMore();
                clusters.target().kill(2);
                awaitMore();
                killMirrors();
                restart(clusters.target(), 2);
                modes.forEach(this::start);
                awaitMore();
            }
        } finally {
            isLoading.set(false);
        }
        load.get(STOP.toSeconds(), TimeUnit.SECONDS);
        for (CopyMode mode : modes) {
            long written = clusters.written(topic(mode));
            await("all of " + mode + " is committed", () -> clusters.committed(topic(mode)) == written, running());
            MirrorProcess mirror = mirrors.get(mode);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            assertThat(mirror.output())
                    .containsPattern(mode == CopyMode.BATCHES ? "Batches: [1-9]\\d* passed" : "Batches: 0 passed");

            Comparison comparison = clusters.compare(topic(mode));
            System.out.println("BatchMirrorFaultsIT: " + mode + ": " + comparison);
            assertThat(comparison).as("%s, seed %d", mode, seed).matches(Comparison::isExact);
        }
    }

    /** Where a partition begins that has no position, only its leader can tell. */
    @Test
    void shouldCopyTheOthersUntilANewPartitionOfTheSourceHasALeader() throws Exception {
        List<CopyMode> modes = List.of(CopyMode.CONSUMER, CopyMode.BATCHES);
        Path latest = Files.writeString(folder.resolve("latest.properties"), "auto.offset.reset=latest\n");
        for (CopyMode mode : modes) {
            clusters.source().createTopic("new-" + mode, Map.of(0, List.of(1), 1, List.of(2)), Map.of());
            clusters.fill("new-" + mode, 2, 200, seed); // which is not copied
        }
        clusters.source().kill(2);
        for (CopyMode mode : modes) {
            await("the source knows", () -> clusters.source().leader("new-" + mode, 1) == -1);
            mirrors.put(mode, clusters.mirror("new-" + mode, 1, mode, "--consumer.config=" + latest));
        }
        for (CopyMode mode : modes) {
            await("partition 0 is placed", () -> committed("new-" + mode, 0) == 100, running());
            clusters.fill("new-" + mode, 1, 1_000, seed + 1);
            await("it is copied", () -> committed("new-" + mode, 0) == 1_100, running());
            assertThat(committed("new-" + mode, 1)).isEqualTo(-1);
        }
        clusters.source().restart(2);
        for (CopyMode mode : modes) {
            MirrorProcess mirror = mirrors.get(mode);
            await("partition 1 is placed", () -> committed("new-" + mode, 1) == 100, mirror);
            clusters.fill("new-" + mode, 2, 2_000, seed + 2);
            await("all is copied", () -> clusters.committed("new-" + mode) == 3_200, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            assertThat(mirror.output()).containsPattern("not known yet where to begin with \\[[^]]*new-" + mode + "-1");
            assertThat(clusters.mirroredByPartition("new-" + mode).values()).containsExactlyInAnyOrder(2_000L, 1_000L);
        }
    }

    private static long committed(String topic, int partition) {
        OffsetAndMetadata position = clusters.positions(topic).get(new TopicPartition(topic, partition));
        return position == null ? -1 : position.offset();
    }

    private static String topic(CopyMode mode) {
        return "faults-" + mode;
    }

    /** Both brokers have all partitions; each is the preferred leader of every second one. */
    private static Map<Integer, List<Integer>> replicas() {
        return IntStream.range(0, PARTITIONS)
                .boxed()
                .collect(Collectors.toMap(p -> p, p -> List.of(preferredLeader(p), 3 - preferredLeader(p))));
    }

    private static int preferredLeader(int partition) {
        return 1 + partition % 2;
    }

    /** Writes to the source without duplicates, so that each record can be told from all others. */
    private void load(List<CopyMode> modes, AtomicBoolean goesOn) {
        Map<String, Object> config = new HashMap<>(clusters.source().clientConfig());
        config.put("compression.type", "lz4");
        try (Producer<byte[], byte[]> producer =
                new MillraceProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int i = 0; goesOn.get(); i++) {
                for (CopyMode mode : modes) {
                    clusters.fill(producer, topic(mode), PARTITIONS, 300, seed + i, age);
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100)); // leaves the processors to the others
            }
        }
    }

    private void start(CopyMode mode) {
        try {
            Path config = Files.writeString(
                    folder.resolve("c.properties"), "session.timeout.ms=3000\nheartbeat.interval.ms=500\n");
            mirrors.put(mode, clusters.mirror(topic(mode), 2, mode, "--consumer.config=" + config));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void killMirrors() throws InterruptedException {
        for (MirrorProcess mirror : mirrors.values()) {
            assertThat(mirror.isAlive()).as(() -> mirror.output()).isTrue();
            mirror.kill().awaitExit(STOP);
        }
    }

    /** Starts a broker that was killed, and gives it back the partitions that it should lead. */
    private static void restart(KafkaCluster cluster, int broker) {
        cluster.restart(broker);
        for (CopyMode mode : List.of(CopyMode.BATCHES, CopyMode.RECORDS)) {
            await("leaders of " + topic(mode) + " are back at broker " + broker, () -> {
                cluster.admin().electLeaders(ElectionType.PREFERRED, null);
                return IntStream.range(0, PARTITIONS)
                        .allMatch(p -> cluster.leader(topic(mode), p) == preferredLeader(p));
            });
        }
    }

    /** Waits until records that were written after now are in the target. */
    private void awaitMore() {
        for (CopyMode mode : mirrors.keySet()) {
            long now = clusters.mirrored(topic(mode));
            await("more of " + mode, () -> clusters.mirrored(topic(mode)) > now + MORE, running());
        }
    }

    private MirrorProcess[] running() {
        return mirrors.values().toArray(MirrorProcess[]::new);
    }
}
