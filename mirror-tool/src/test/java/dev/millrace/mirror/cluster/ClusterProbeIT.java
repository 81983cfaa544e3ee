package dev.millrace.mirror.cluster;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.Test;

class ClusterProbeIT {
    private static final long INTERVAL = Duration.ofSeconds(5).toNanos();

    /** Closing ends the client's thread as an error in it does. */
    @Test
    void shouldTellThatTheThreadOfTheClientHasDiedAndNotThatTheClusterIsAway() {
        try (KafkaCluster cluster = KafkaCluster.builder().start();
                Admin admin = Admin.create(cluster.clientConfig())) {
            long start = System.nanoTime();
            ClusterProbe probe = new ClusterProbe("source", admin, start);
            probe.askIfDue(start + INTERVAL);
            await("it has answered", () -> probe.problem(start + 3 * INTERVAL).isEmpty());
            assertThat(probe.failure()).isEmpty();

            cluster.kill(1);
            assertThat(probe.failure())
                    .as("a cluster that is away is no failure")
                    .isEmpty();

            admin.close(Duration.ZERO);
            await("the thread has ended", () -> !probe.failure().isEmpty());
            assertThat(probe.failure()).contains("admin client of the source cluster has died");
        }
    }
}
