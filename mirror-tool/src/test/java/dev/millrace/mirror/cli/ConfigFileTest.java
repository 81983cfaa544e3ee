package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.mirror.MirrorException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigFileTest {
    private static final String YAML = """
            source: old:9092
            target:
              bootstrap.servers: [new:9092, newer:9092]
              ssl:
                key.password: "a=b, c"
            topics: [orders, 'payments-.*']
            threads: 8
            verbose: true
            on-refused: [logs-.*=skip, stop-partition]
            """;

    /** Without stack traces in messages. */
    private static final String TERSE = YAML.replace("verbose: true", "verbose: false");

    @TempDir
    private Path folder;

    @Test
    void shouldTurnEntriesIntoOptionsOfTheCommand() throws IOException {
        Path file = write("mirror.yaml", YAML);

        assertThat(expand("run", "--config", file.toString()))
                .containsExactly(
                        "run",
                        "--on-refused=logs-.*=skip",
                        "--on-refused=stop-partition",
                        "--source=old:9092",
                        "--target=new:9092,newer:9092",
                        "--target-setting=ssl.key.password=a=b, c",
                        "--threads=8",
                        "--topics=orders,payments-.*",
                        "--verbose",
                        "--config",
                        file.toString());
    }

    @Test
    void shouldTakeTheSameFromProperties() throws IOException {
        Path yaml = write("mirror.yml", YAML);
        Path properties = write("mirror.properties", """
                source=old:9092
                target.bootstrap.servers=new:9092,newer:9092
                target.ssl.key.password=a=b, c
                topics=orders,payments-.*
                threads=8
                verbose=true
                """);

        List<String> expanded = expand("run", "--config=" + properties, "--on-refused=stop");

        assertThat(expanded)
                .startsWith(expand("run", "--config=" + yaml, "--on-refused=stop")
                        .subList(0, 7)
                        .toArray(String[]::new));
    }

    @Test
    void shouldPreferTheCommandLine() throws IOException {
        Path file = write("mirror.yaml", YAML);

        List<String> expanded =
                expand("run", "--threads", "2", "--on-refused=stop", "--target=t:1", "--config=" + file);

        assertThat(expanded)
                .containsOnlyOnce("--on-refused=stop", "--target=t:1")
                .doesNotContain("--threads=8", "--target=new:9092,newer:9092", "--on-refused=stop-partition");
    }

    @Test
    void shouldPassSettingsToTheClientsOfTheirCluster() throws IOException {
        Path file = write("mirror.yaml", TERSE + "source.max.poll.records: 7\n");
        StringWriter err = new StringWriter();

        int exitCode = execute(
                err,
                "run",
                "--config=" + file,
                "--source=a:1",
                "--target=b:1",
                "--on-refused=stop",
                "--source-setting=max.poll.records=all");

        assertThat(exitCode).isEqualTo(2);
        assertThat(err.toString())
                .hasLineCount(1)
                .contains("max.poll.records", "all", "options are also in --config " + file)
                .doesNotContain("a=b, c");
    }

    @Test
    void shouldRefuseASettingThatWouldBreakTheMirror() throws IOException {
        Path file = write("mirror.yaml", TERSE + "source.enable.auto.commit: true\n");
        StringWriter err = new StringWriter();

        assertThat(execute(err, "run", "--config=" + file, "--on-refused=stop")).isEqualTo(2);
        assertThat(err.toString()).hasLineCount(1).contains("--source-setting enable.auto.commit=true would break");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            mirror.yaml       | thread: 8                        | thread is not an option of mirror run; did you mean threads?
            mirror.properties | colour=red                       | colour is not an option of mirror run; settings of Kafka's clients begin with source. or target.
            mirror.yaml       | config: other.yaml               | config is not an option
            mirror.yaml       | verbose: 1                       | verbose=1: expected true or false
            mirror.yaml       | threads:                         | threads has no value
            mirror.yaml       | topics: [a, [b]]                 | topics: a list of texts
            mirror.yaml       | just a text                      | expected are lines such as 'threads: 8'
            mirror.yaml       | source.ssl.password: "secret     | it is not YAML at line
            mirror.properties | threads=\\u00zz                  | cannot be read, it is not a text in UTF-8 of the expected form
            """)
    void shouldNameTheFileAndTheKeyThatIsWrong(String name, String content, String expected) throws IOException {
        Path file = write(name, content);

        assertThatThrownBy(() -> expand("run", "--config=" + file))
                .isInstanceOf(MirrorException.class)
                .hasMessageStartingWith("--config " + file + ": ")
                .hasMessageContaining(expected)
                .hasMessageNotContaining("secret");
    }

    @Test
    void shouldNameAFileThatIsNotThere() {
        StringWriter err = new StringWriter();

        assertThat(execute(err, "run", "--config", "no.yaml")).isEqualTo(2);
        assertThat(err.toString()).isEqualToIgnoringNewLines("mirror run: --config no.yaml: there is no such file");
    }

    private static List<String> expand(String... args) {
        return List.of(ConfigFile.expand(args, Main.commandLine((stop, left) -> {})));
    }

    private static int execute(StringWriter err, String... args) {
        var main = Main.commandLine((stop, left) -> {});
        main.setErr(new PrintWriter(err, true));
        return Main.execute(main, args);
    }

    private Path write(String name, String content) throws IOException {
        return Files.writeString(folder.resolve(name), content);
    }
}
