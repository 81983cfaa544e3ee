package dev.millrace.mirror;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.StockProducers;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.oracle.Comparison;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Exactly once over a link that carries less than the producer's memory in the time after which a partition hangs. */
@Timeout(300) // for a hang only
class SlowLinkIT {
    private static final int PARTITIONS = 64;
    private static final int RECORDS = 2_400;
    private static final int RECORD_BYTES = 10_000;
    private static final long BYTES_PER_SECOND = 3_000_000;

    private final long seed = Long.getLong("millrace.seed", System.nanoTime());

    @Test
    void shouldCommitWhatASlowLinkCarriesWithoutWritingAnythingTwice() throws Exception {
        String topic = "slow";
        try (MirrorFixture clusters = new MirrorFixture(
                source -> source.listeners(Listener.PLAINTEXT, Listener.PROXIED),
                target -> target.listeners(Listener.PLAINTEXT, Listener.PROXIED))) {
            clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
            fill(clusters, topic);
            clusters.target().proxy(1).limitBytesPerSecond(BYTES_PER_SECOND);
            try (MirrorProcess mirror = clusters.mirrorThrough(
                    Listener.PROXIED, topic, 8, ProducerKind.MILLRACE, "--resume=exactly-once")) {
                await("all is committed", () -> clusters.committedOnTarget(topic) == RECORDS, mirror);
                assertThat(mirror.terminate().awaitExit(Duration.ofSeconds(40)))
                        .as(mirror.output())
                        .isZero();
                assertThat(mirror.output()).doesNotContain("aborted");
            }
            assertThat(clusters.compareForCommittedReader(topic))
                    .as("seed %d", seed)
                    .matches(Comparison::isExact);
        }
    }

    /** In large batches, which are passed as they are. */
    private void fill(MirrorFixture clusters, String topic) {
        Random random = new Random(seed);
        Map<String, Object> config = new HashMap<>(clusters.source().clientConfig());
        config.put("batch.size", "131072");
        config.put("linger.ms", "100");
        try (KafkaProducer<byte[], byte[]> producer = StockProducers.create(config)) {
            IntStream.range(0, RECORDS).forEach(i -> {
                byte[] value = new byte[RECORD_BYTES];
                random.nextBytes(value);
                producer.send(new ProducerRecord<>(topic, i % PARTITIONS, null, value));
            });
        }
    }
}
