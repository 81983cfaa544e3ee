package dev.millrace.mirror.run;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.SourceLoad;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.oracle.Comparison;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A mirror that runs for longer than any of its certificates is valid. */
@Tag("thorough")
@Tag("long")
class MirrorCertificatesIT {
    private static final Duration VALID = Duration.ofMinutes(2);
    private static final int RENEWALS = 3;
    private static final int PARTITIONS = 3;
    private static final Duration STOP = Duration.ofSeconds(60);
    private static final String TOPIC = "renewed";

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture(
            source -> source.listeners(Listener.SSL_MUTUAL), target -> target.listeners(Listener.SSL_MUTUAL));

    @TempDir
    private Path folder;

    private final long seed = Long.getLong("millrace.seed", System.nanoTime());
    private Instant expiryForSource;
    private Instant expiryForTarget;

    @Test
    void shouldGoOnWithRenewedCertificatesWhileBrokersRestart() throws Exception {
        clusters.source().createTopic(TOPIC, PARTITIONS, 1, Map.of());
        renew();
        String[] options = {
            "--http=0",
            "--consumer.config=" + settings(clusters.source(), "source"),
            "--producer.config=" + settings(clusters.target(), "target")
        };
        long records;
        try (MirrorProcess mirror =
                clusters.mirrorThrough(Listener.SSL_MUTUAL, TOPIC, 2, ProducerKind.MILLRACE, options)) {
            try (SourceLoad load = new SourceLoad(clusters, TOPIC, PARTITIONS, seed)) {
                for (int renewal = 0; renewal < RENEWALS; renewal++) {
                    await("half of its time is over", this::isHalfOver, mirror);
                    Instant former = expiryForTarget;
                    renew();
                    clusters.source().restart(1);
                    clusters.target().restart(1);
                    await(
                            "the former certificates have expired",
                            () -> Instant.now().isAfter(former),
                            mirror);
                    long before = clusters.mirrored(TOPIC);
                    await("it copies", () -> clusters.mirrored(TOPIC) > before, mirror);
                    await("it tells when those in use expire", () -> tellsWhenTheyExpire(mirror), mirror);
                }
                records = load.stop();
            }
            await("all is mirrored", () -> clusters.committed(TOPIC) == records, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        assertThat(clusters.compare(TOPIC)).as("seed %d", seed).matches(Comparison::isExact);
    }

    private boolean isHalfOver() {
        return Instant.now().isAfter(expiryForSource.minus(VALID.dividedBy(2)));
    }

    /** Replaces both certificates. */
    private void renew() throws IOException {
        expiryForSource = renew(clusters.source(), "source");
        expiryForTarget = renew(clusters.target(), "target");
    }

    private Instant renew(KafkaCluster cluster, String name) throws IOException {
        Path made = folder.resolve("made.p12");
        Instant expiry = cluster.certificates().makeClientStore(made, VALID);
        Files.move(made, store(name), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        return expiry;
    }

    private Path store(String name) {
        return folder.resolve(name + ".p12");
    }

    private Path settings(KafkaCluster cluster, String name) throws IOException {
        Map<String, Object> settings = cluster.clientConfig(Listener.SSL_MUTUAL);
        settings.put("ssl.keystore.location", store(name).toString());
        return MirrorFixture.settingsFile(folder, settings);
    }

    private boolean tellsWhenTheyExpire(MirrorProcess mirror) {
        HttpResponse<String> answer = mirror.get("readyz");
        return answer.statusCode() == 200
                && answer.body().contains("at " + expiryForSource)
                && answer.body().contains("at " + expiryForTarget);
    }
}
