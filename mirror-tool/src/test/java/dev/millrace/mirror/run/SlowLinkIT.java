package dev.millrace.mirror.run;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.StockProducers;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.oracle.Comparison;
import dev.millrace.testkit.proxy.FaultProxy;
import dev.millrace.testkit.proxy.SlowLink;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Links that carry less than the producer's memory in the time after which a partition hangs. */
@Tag("thorough")
@Tag("long")
class SlowLinkIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final int PARTITIONS = 64;
    private static final int RECORD_BYTES = 10_000;
    private static final long MB = 1_000_000;
    private static final int THREADS = 8;
    /** Of links in MB/s: {@code -Dmillrace.links=1,3,12} for more than CI has time for. */
    private static final String LINKS = System.getProperty("millrace.links", "");
    /** For how long each of these has something to carry. */
    private static final int LINK_SECONDS = Integer.getInteger("millrace.link.seconds", 20);

    private static final int[] ROUND_TRIPS_MS = {1, 20, 80};

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture(builder -> builder.listeners(Listener.PROXIED));

    private final long seed = Long.getLong("millrace.seed", System.nanoTime());

    @Test
    void shouldCommitWhatASlowLinkCarriesWithoutWritingAnythingTwice() throws Exception {
        String topic = "slow";
        int records = 2_400; // for eight seconds
        fill(topic, records);
        FaultProxy proxy = clusters.target().proxy(1);
        proxy.limitBytesPerSecond(3 * MB);
        try (MirrorProcess mirror = mirror(topic, topic, "--resume=exactly-once")) {
            await("all is committed", () -> clusters.committedOnTarget(topic) == records, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            assertThat(mirror.output()).doesNotContain("is aborted");
        } finally {
            proxy.limitBytesPerSecond(Long.MAX_VALUE);
        }

        assertThat(clusters.compareForCommittedReader(topic))
                .as("seed %d", seed)
                .matches(Comparison::isExact);
    }

    /** A turn of all partitions takes half a minute. */
    @Test
    void shouldNotWarnOfPartitionsThatWaitForTheirTurn() throws Exception {
        String topic = "turns";
        int records = 1_280;
        fill(topic, records);
        FaultProxy proxy = clusters.target().proxy(1);
        proxy.limitBytesPerSecond(MB / 2);
        try (MirrorProcess mirror = mirror(topic, topic, "--resume=exact")) {
            await("all is committed", () -> clusters.committed(topic) == records, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            assertThat(mirror.output()).doesNotContain("has taken nothing");
        } finally {
            proxy.limitBytesPerSecond(Long.MAX_VALUE);
        }

        assertThat(clusters.compare(topic)).as("seed %d", seed).matches(Comparison::isExact);
    }

    @Test
    void shouldTakeLittleLongerThanExactResumeOverLongSlowLinks() throws Exception {
        assumeThat(LINKS).as("-Dmillrace.links").isNotEmpty();
        FaultProxy proxy = clusters.target().proxy(1);
        int broker = proxy.target();
        for (int rate :
                Arrays.stream(LINKS.split(",")).mapToInt(Integer::parseInt).toArray()) {
            String topic = "link-" + rate;
            int records = (int) (rate * MB * LINK_SECONDS / RECORD_BYTES);
            fill(topic, records);
            for (int roundTrip : ROUND_TRIPS_MS) {
                try (SlowLink link = new SlowLink(broker, rate * MB, Duration.ofMillis(roundTrip))) {
                    proxy.setTarget(link.port());
                    String name = rate + "-" + roundTrip;
                    double exact = seconds(topic, "exact-" + name, "exact", records);
                    double exactlyOnce = seconds(topic, "once-" + name, "exactly-once", records);
                    System.out.printf(
                            "%d MB/s, %d ms: the link %d s, exact %.1f s, exactly once %.1f s, %.2f x%n",
                            rate, roundTrip, LINK_SECONDS, exact, exactlyOnce, exactlyOnce / exact);
                } finally {
                    proxy.setTarget(broker);
                    proxy.resetAll();
                }
            }
        }
    }

    /** From the first record at the target until all is committed. */
    private double seconds(String topic, String group, String resume, long records) throws Exception {
        LongSupplier committed =
                resume.equals("exact") ? () -> clusters.committed(group) : () -> clusters.committedOnTarget(group);
        try (MirrorProcess mirror = mirror(topic, group, "--resume=" + resume, "--topic-prefix=" + group + ".")) {
            await("it writes", () -> clusters.mirrored(group + "." + topic) > 0, mirror);
            long start = System.nanoTime();
            await("all is committed", () -> committed.getAsLong() == records, mirror);
            double seconds = (System.nanoTime() - start) / 1e9;
            mirror.terminate().awaitExit(STOP);
            if (mirror.output().contains("is aborted")) {
                System.out.println(mirror.output());
            }
            return seconds;
        }
    }

    private MirrorProcess mirror(String topic, String group, String... more) {
        List<String> args = new ArrayList<>(List.of(
                "run",
                "--source=" + clusters.source().bootstrapServers(),
                "--target=" + clusters.target().bootstrapServers(Listener.PROXIED),
                "--topics=" + topic,
                "--threads=" + THREADS,
                "--group=" + group));
        args.addAll(List.of(more));
        return MirrorProcess.start(args.toArray(String[]::new));
    }

    /** In batches that are passed as they are. */
    private void fill(String topic, int records) {
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
        Random random = new Random(seed);
        Map<String, Object> config = new HashMap<>(clusters.source().clientConfig());
        config.put("batch.size", "131072");
        config.put("linger.ms", "100");
        try (KafkaProducer<byte[], byte[]> producer = StockProducers.create(config)) {
            IntStream.range(0, records).forEach(i -> {
                byte[] value = new byte[RECORD_BYTES];
                random.nextBytes(value);
                producer.send(new ProducerRecord<>(topic, i % PARTITIONS, null, value));
            });
        }
    }
}
