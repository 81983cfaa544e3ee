package dev.millrace.mirror.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.support.MirrorProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The demo without MirrorMaker 1 and 2, which Maven would have to download. */
class DemoIT {
    @TempDir
    private Path folder;

    @Test
    @Timeout(400)
    void shouldMirrorWithEachProducerAndFindEveryTargetExact() throws Exception {
        try (MirrorProcess demo = MirrorProcess.start("demo", "--records=20000", "--threads=1", "--size=50")) {
            assertThat(demo.awaitExit(Duration.ofMinutes(6))).as(demo.output()).isZero();

            assertThat(demo.output().lines().filter(line -> line.endsWith("exact")))
                    .extracting(line -> line.replaceAll("\\s+", " "))
                    .satisfiesExactly(
                            line -> assertThat(line).startsWith("stock 1 "),
                            line -> assertThat(line).startsWith("millrace-consumer 1 "),
                            line -> assertThat(line).startsWith("millrace-auto 1 "));
        }
    }

    @Tag("thorough")
    @Test
    @Timeout(400)
    void shouldPrintAJsonObjectForEachRunOfTheModesThatAreWanted() throws Exception {
        try (MirrorProcess demo = MirrorProcess.start(
                "demo",
                "--records=20000",
                "--threads=1",
                "--producers=millrace",
                "--mode=batches,records",
                "--batch-records=23",
                "--idle-partitions=40",
                "--json")) {
            assertThat(demo.awaitExit(Duration.ofMinutes(6))).as(demo.output()).isZero();

            assertThat(demo.output())
                    .contains(
                            "20,000 records of 100 bytes, 23 in a batch, in 32 partitions, snappy, beside 40 idle partitions");
            assertThat(demo.output().lines().filter(line -> line.startsWith("{")))
                    .satisfiesExactly(
                            line -> assertThat(line)
                                    .startsWith("{\"contender\":\"millrace\",\"mode\":\"batches\",\"threads\":1,")
                                    .endsWith(",\"target\":\"exact\"}"),
                            line -> assertThat(line)
                                    .startsWith("{\"contender\":\"millrace\",\"mode\":\"records\",\"threads\":1,")
                                    .endsWith(",\"target\":\"exact\"}"));
        }
    }

    @Tag("thorough")
    @Test
    @Timeout(400)
    void shouldDrawCurvesOfSpeedByThreads() throws Exception {
        Path report = folder.resolve("curve.html");

        try (MirrorProcess demo = MirrorProcess.start(
                "demo", "--curve", "--records=20000", "--threads=2", "--size=50", "--rounds=1", "--report=" + report)) {
            assertThat(demo.awaitExit(Duration.ofMinutes(6))).as(demo.output()).isZero();

            assertThat(demo.output().lines().filter(line -> line.endsWith("exact")))
                    .extracting(line -> line.strip().replaceAll("\\s.*", ""))
                    .containsExactly("1", "2");
            assertThat(demo.output()).contains("Wrote " + report);
        }
        assertThat(Files.readString(report)).contains("20,000 records of 50 bytes", "KAFKA-3428");
        assertThat(folder.resolve("curve.svg")).exists();
    }
}
