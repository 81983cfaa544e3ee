package dev.millrace.client.it.batches;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.process.JavaProgram;
import dev.millrace.testkit.process.JavaRuntime;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A codec whose native library cannot be unpacked: on a read-only disk, say. */
class UnloadableCodecIT {
    @Test
    void shouldFailEachRecordAndWarnOnceWhenTheCodecCannotLoad() {
        try (KafkaCluster cluster = KafkaCluster.builder().start()) {
            // given
            cluster.createTopic("t", 1, 1, Map.of());

            // when
            try (JavaProgram program = JavaProgram.start(
                    JavaRuntime.ofThisJvm(),
                    List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-Dorg.xerial.snappy.tempdir=/proc/nothing"),
                    CodecProgram.class,
                    cluster.bootstrapServers(),
                    "t",
                    "snappy")) {
                program.awaitEnd(Duration.ofMinutes(1));

                // then
                String output = program.output();
                assertThat(lines(output, "failed: "))
                        .hasSize(CodecProgram.RECORDS)
                        .allSatisfy(
                                line -> assertThat(line).endsWith("A batch of 1 records for t-0 could not be written"));
                assertThat(lines(output, "because ")).anyMatch(line -> line.contains("UnsatisfiedLinkError"));
                assertThat(lines(output, "A batch for t-0 could not be written"))
                        .singleElement()
                        .asString()
                        .contains("WARN");
            }
        }
    }

    private static List<String> lines(String output, String text) {
        return output.lines().filter(line -> line.contains(text)).toList();
    }
}
