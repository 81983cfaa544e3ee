package dev.millrace.mirror;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class DemoIT {
    @Test
    @Timeout(180)
    void shouldMirrorWithEachProducerAndFindEveryTargetExact() throws Exception {
        try (MirrorProcess demo = MirrorProcess.start("demo", "--records=20000", "--threads=4", "--size=50")) {
            assertThat(demo.awaitExit(Duration.ofSeconds(150)))
                    .as(demo.output())
                    .isZero();

            assertThat(demo.output().lines().filter(line -> line.endsWith("exact")))
                    .extracting(line -> line.replaceAll("\\s+", " "))
                    .satisfiesExactly(
                            line -> assertThat(line).startsWith("stock 1 "),
                            line -> assertThat(line).startsWith("stock 4 "),
                            line -> assertThat(line).startsWith("millrace 1 "),
                            line -> assertThat(line).startsWith("millrace 4 "));
        }
    }
}
