package dev.millrace.mirror.run;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.CopyMode;
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
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.Producer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two mirrors of one group with many partitions, of which one is killed. */
@Tag("thorough")
class ManyPartitionsIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    /** {@code -Dmillrace.topics=100} for 10,000 partitions, which CI has no time for. */
    private static final int TOPICS = Integer.getInteger("millrace.topics", 2);
    /** Of each topic. */
    private static final int PARTITIONS = 100;
    /** Per topic. */
    private static final int STEP = 2_000;

    private static final String ALL_TOPICS = "wide[.].*";

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture(builder -> builder.heap("2g")
            .setting("log.index.size.max.bytes", "65536")
            .setting("offsets.topic.num.partitions", "1"));

    private final long seed = Long.getLong("millrace.seed", System.nanoTime());
    private final List<String> topics =
            IntStream.range(0, TOPICS).mapToObj(i -> "wide." + i).toList();

    @TempDir
    private Path folder;

    @Test
    void shouldMirrorAllPartitionsExactlyWhenOneOfTwoMirrorsIsKilled() throws Exception {
        topics.forEach(topic -> clusters.source().createTopic(topic, PARTITIONS, 1, Map.of()));
        fill(seed);
        long start = System.nanoTime();
        try (MirrorProcess first = mirror();
                MirrorProcess second = mirror()) {
            await("the first records are committed", () -> committed() == (long) TOPICS * STEP, first, second);
            long mirroredMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);

            fill(seed + 1);
            await("more is mirrored", () -> topics.stream().anyMatch(t -> clusters.mirrored(t) > STEP), first, second);
            first.kill().awaitExit(STOP);
            fill(seed + 2);
            await("all is committed", () -> committed() == 3L * TOPICS * STEP, second);

            assertThat(second.terminate().awaitExit(STOP)).as(second.output()).isZero();
            System.out.printf(
                    "ManyPartitionsIT: %,d partitions, created and mirrored within %,d ms of the start%n",
                    TOPICS * PARTITIONS, mirroredMs);
        }

        for (String topic : topics) {
            assertThat(clusters.compare(topic)).as("%s, seed %d", topic, seed).matches(Comparison::isExact);
        }
    }

    private MirrorProcess mirror() throws IOException {
        Path config = Files.writeString(
                folder.resolve("c.properties"), "session.timeout.ms=6000\nheartbeat.interval.ms=1000\n");
        return clusters.mirror(ALL_TOPICS, 2, CopyMode.AUTO, "--consumer.config=" + config);
    }

    private void fill(long seed) {
        try (Producer<byte[], byte[]> producer =
                StockProducers.create(clusters.source().clientConfig())) {
            topics.forEach(topic -> clusters.fill(producer, topic, PARTITIONS, STEP, seed));
        }
    }

    private static long committed() {
        return clusters.committed(ALL_TOPICS);
    }
}
