package dev.millrace.mirror.copy;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.cluster.SaslMechanism;
import dev.millrace.testkit.oracle.Comparison;
import dev.millrace.testkit.proxy.VersionLimit;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Mirrors that fetch by themselves, over connections of every kind, and between clusters that speak an old protocol. */
@Tag("thorough")
class BatchMirrorConnectionsIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final int PARTITIONS = 3;
    private static final int RECORDS = 3_000;

    @AutoClose
    private static MirrorFixture clusters;

    private final long seed = Long.getLong("millrace.seed", System.nanoTime());

    @TempDir
    private Path folder;

    @BeforeAll
    static void startClusters() {
        clusters = new MirrorFixture(
                builder -> builder.listeners(Listener.SASL_SSL, Listener.SSL_MUTUAL, Listener.PROXIED));
        clusters.source().proxy(1).limitVersions(VersionLimit.KAFKA_2_1);
        clusters.target().proxy(1).limitVersions(VersionLimit.KAFKA_2_1);
    }

    @ParameterizedTest
    @CsvSource({"SASL_SSL, SCRAM_SHA_512", "SASL_SSL, OAUTHBEARER", "SSL_MUTUAL, PLAIN"})
    void shouldMirrorOverEncryptedConnections(Listener listener, SaslMechanism mechanism) throws Exception {
        mirror(listener, mechanism, CopyMode.BATCHES);
    }

    @ParameterizedTest
    @EnumSource(
            value = CopyMode.class,
            names = {"BATCHES", "RECORDS"})
    void shouldMirrorBetweenClustersThatSpeakOnlyWhatKafka21Spoke(CopyMode mode) throws Exception {
        mirror(Listener.PROXIED, SaslMechanism.PLAIN, mode);
    }

    private void mirror(Listener listener, SaslMechanism mechanism, CopyMode mode) throws Exception {
        String topic = "by-" + listener + "-" + mechanism + "-" + mode;
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
        clusters.fill(topic, PARTITIONS, RECORDS, seed, Map.of("compression.type", "zstd"));
        clusters.fill(topic, PARTITIONS, RECORDS, seed + 1, Map.of("compression.type", "none"));

        try (MirrorProcess mirror = MirrorProcess.start(
                "run",
                "--consumer.config=" + settings(clusters.source(), listener, mechanism),
                "--producer.config=" + settings(clusters.target(), listener, mechanism),
                "--topics=" + topic,
                "--group=" + topic,
                "--mode=" + mode)) {
            await("all is committed", () -> clusters.committed(topic) == 2 * RECORDS, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }

        assertThat(clusters.compare(topic)).as("seed %d", seed).matches(Comparison::isExact);
    }

    private Path settings(KafkaCluster cluster, Listener listener, SaslMechanism mechanism) throws IOException {
        return MirrorFixture.settingsFile(folder, cluster.clientConfig(listener, mechanism));
    }
}
