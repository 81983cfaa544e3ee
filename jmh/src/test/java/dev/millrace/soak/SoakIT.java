package dev.millrace.soak;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A small version of {@code testkit/soak}. */
@Tag("thorough")
class SoakIT {
    @Test
    void shouldLeaveNothingBehind() throws Exception {
        try (KafkaCluster cluster = SoakRun.startCluster()) {
            SoakRun run = new SoakRun(cluster, System.out);

            run.openAndClose(200);
            run.sendSteadily(Duration.ofSeconds(6), 2_000);

            assertThat(run.leaks()).isEmpty();
        }
    }
}
