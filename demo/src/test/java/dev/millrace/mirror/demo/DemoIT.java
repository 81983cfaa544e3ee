package dev.millrace.mirror.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.cli.Main;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoIT {
    /** How the demo is to start its brokers. */
    private static final List<String> FOR_CLUSTERS =
            List.of("millrace.testkit.archives", "millrace.testkit.broker.compiler");

    @TempDir
    private Path folder;

    @Test
    void shouldMirrorWithEachProducerAndFindEveryTargetExact() throws Exception {
        String output = run("--records=20000", "--threads=1", "--size=50");

        assertThat(output.lines().filter(line -> line.endsWith("exact")))
                .extracting(line -> line.replaceAll("\\s+", " "))
                .satisfiesExactly(
                        line -> assertThat(line).startsWith("stock 1 "),
                        line -> assertThat(line).startsWith("millrace-consumer 1 "),
                        line -> assertThat(line).startsWith("millrace-auto 1 "));
    }

    /** Maven downloads them at their first use. */
    @Tag("thorough")
    @Test
    void shouldMirrorWithMirrorMaker1And2() throws Exception {
        String output = run("--records=20000", "--threads=1", "--producers=mirrormaker1,mirrormaker2");

        assertThat(output.lines())
                .anyMatch(line -> line.startsWith("mirrormaker1 ") && line.contains("every record once"))
                .anyMatch(line -> line.startsWith("mirrormaker2 ") && line.endsWith("exact"));
    }

    @Tag("thorough")
    @Test
    void shouldPrintAJsonObjectForEachRunOfTheModesThatAreWanted() throws Exception {
        String output = run(
                "--records=20000",
                "--threads=1",
                "--producers=millrace",
                "--mode=batches,records",
                "--batch-records=23",
                "--idle-partitions=40",
                "--json");

        assertThat(output)
                .contains(
                        "20,000 records of 100 bytes, 23 in a batch, in 32 partitions, snappy, beside 40 idle partitions");
        assertThat(output.lines().filter(line -> line.startsWith("{")))
                .satisfiesExactly(
                        line -> assertThat(line)
                                .startsWith("{\"contender\":\"millrace\",\"mode\":\"batches\",\"threads\":1,")
                                .endsWith(",\"target\":\"exact\"}"),
                        line -> assertThat(line)
                                .startsWith("{\"contender\":\"millrace\",\"mode\":\"records\",\"threads\":1,")
                                .endsWith(",\"target\":\"exact\"}"));
    }

    @Tag("thorough")
    @Tag("long")
    @Test
    void shouldDrawCurvesOfSpeedByThreads() throws Exception {
        Path report = folder.resolve("curve.html");

        String output =
                run("--curve", "--records=20000", "--threads=2", "--size=50", "--rounds=1", "--report=" + report);

        assertThat(output.lines().filter(line -> line.endsWith("exact")))
                .extracting(line -> line.strip().replaceAll("\\s.*", ""))
                .containsExactly("1", "2");
        assertThat(output).contains("Wrote " + report);
        assertThat(Files.readString(report)).contains("20,000 records of 50 bytes", "KAFKA-3428");
        assertThat(folder.resolve("curve.svg")).exists();
    }

    /** Runs the demo to its end, which must be a good one, and returns what it printed to both streams. */
    private String run(String... args) throws IOException, InterruptedException {
        Path printed = folder.resolve("printed");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // The JVM starts faster, and these runs are short.
        command.addAll(List.of("-Xmx512m", "-XX:TieredStopAtLevel=1"));
        FOR_CLUSTERS.stream()
                .filter(name -> System.getProperty(name) != null)
                .forEach(name -> command.add("-D" + name + "=" + System.getProperty(name)));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName(), "demo"));
        command.addAll(List.of(args));
        Process demo = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(printed.toFile())
                .start();
        try {
            assertThat(demo.waitFor(6, TimeUnit.MINUTES)).as("ends").isTrue();
            assertThat(demo.exitValue()).as(Files.readString(printed)).isZero();
            return Files.readString(printed);
        } finally {
            demo.destroyForcibly();
        }
    }
}
