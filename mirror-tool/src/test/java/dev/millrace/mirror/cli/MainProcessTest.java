package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.testkit.process.JavaRuntime;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the command that need a process of its own, but no cluster. */
@Timeout(120)
class MainProcessTest {
    private static final Duration PATIENCE = Duration.ofSeconds(100);
    private static final String NOBODY = "127.0.0.1:1";

    @TempDir
    private Path folder;

    @Test
    void shouldEndWith1WhenAnErrorEndsTheMainThread() throws Exception {
        Path broken = folder.resolve(Clusters.class.getName().replace('.', '/') + ".class");
        Files.createDirectories(broken.getParent());
        Files.createFile(broken); // Like a class in a truncated jar.
        JavaRuntime runtime = JavaRuntime.ofThisJvm().withFirstOnClassPath(folder);

        try (MirrorProcess mirror = MirrorProcess.startWith(
                runtime, List.of(), "run", "--source=" + NOBODY, "--target=" + NOBODY, "--topics=x")) {
            assertThat(mirror.awaitExit(PATIENCE)).isEqualTo(1);
            assertThat(mirror.output()).hasLineCount(1).contains("ClassFormatError", "is a jar missing");
        }
    }

    @Test
    void shouldKeepPasswordsWithQuotesToItself() throws Exception {
        Path file = Files.writeString(folder.resolve("mirror.yaml"), """
                source:
                  bootstrap.servers: no.such.host.invalid:1
                  ssl.keystore.password: 'open-sesame"x'
                  sasl.jaas.config: 'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="open-sesame;'
                target: {bootstrap.servers: "127.0.0.1:1", ssl.key.password: "open-sesame'", sasl.jaas.config: 'open-sesame"'}
                """);

        try (MirrorProcess mirror = MirrorProcess.start(
                "plan", "--config=" + file, "--topics=x", "--source-setting=ssl.key.password=open-sesame\"")) {
            assertThat(mirror.awaitExit(PATIENCE)).isEqualTo(2);
            assertThat(mirror.output())
                    .hasLineCount(1)
                    .contains("source.bootstrap.servers=no.such.host.invalid:1: there is no such host")
                    .doesNotContain("sesame");
        }
    }

    @Test
    void shouldWarnOfAMisspeltSettingWithDateAndTimeBeforeAnythingElse() throws Exception {
        Path file =
                Files.writeString(folder.resolve("client.properties"), "max.pol.records=7\nmillrace.io.threads=2\n");

        try (MirrorProcess mirror = MirrorProcess.start(
                "run",
                "--source=" + NOBODY,
                "--target=no.such.host.invalid:1",
                "--topics=x",
                "--consumer.config=" + file,
                "--producer.config=" + file)) {
            assertThat(mirror.awaitExit(PATIENCE)).isEqualTo(2);
            assertThat(mirror.output().lines())
                    .satisfiesExactly(
                            line -> assertThat(line)
                                    .matches("\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d WARN  --consumer.config .*:"
                                            + " max.pol.records is .* did you mean max.poll.records\\?"),
                            line -> assertThat(line)
                                    .contains("--consumer.config", "millrace.io.threads is not a setting"),
                            line -> assertThat(line).contains("--producer.config", "max.pol.records is not a setting"),
                            line -> assertThat(line).startsWith("mirror run: --target no.such.host.invalid:1: "));
        }
    }
}
