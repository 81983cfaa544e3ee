package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.text.MirrorException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

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

    private static final List<String> ADDRESSES = List.of("--source=127.0.0.1:1", "--target=127.0.0.1:1");

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
                        .subList(0, 5)
                        .toArray(String[]::new));
    }

    @Test
    void shouldPreferTheCommandLine() throws IOException {
        Path file = write("mirror.yaml", YAML);

        List<String> expanded =
                expand("run", "--threads", "2", "--on-refused=stop", "--target=t:1", "--config=" + file);

        assertThat(expanded)
                .containsOnlyOnce("--on-refused=stop", "--target=t:1")
                .doesNotContain("--threads=8", "--on-refused=stop-partition");
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
                .contains(
                        "--source-setting max.poll.records: Invalid value all", "options are also in --config " + file)
                .doesNotContain("a=b, c");
    }

    @Test
    void shouldRefuseASettingThatWouldBreakTheMirror() throws IOException {
        Path file = write("mirror.yaml", TERSE + "source.enable.auto.commit: true\n");
        StringWriter err = new StringWriter();

        assertThat(execute(err, "run", "--config=" + file, "--on-refused=stop")).isEqualTo(2);
        assertThat(err.toString())
                .hasLineCount(1)
                .contains("--config " + file + ": source.enable.auto.commit=true would break");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            source.max.poll.records: all     | : source.max.poll.records: Invalid value all
            target.linger.ms: soon           | : target.linger.ms: Invalid value soon
            source.bootstrap.servers: here   | : source.bootstrap.servers=here: HOST:PORT
            source.group.id: ''              | : source.group.id=: the name of a consumer group
            target.transactional.id: me      | : target.transactional.id is set
            target.acks: 0                   | : target.acks=0 would break
            target.millrace.io.threads: 0    | : target.millrace.io.threads:
            source.security.protocol: SASL_SSL | Could not find a 'KafkaClient' entry
            threads: many                    | '--threads': 'many' is not an int; threads stands in
            threads: 0                       | --threads 0: at least 1 is needed; threads stands in
            """)
    void shouldNameTheFileAndTheKeyOfABadValue(String line, String expected) throws IOException {
        Path file = write("mirror.yaml", "topics: x\n" + line);
        Path other = write("other.properties", "client.id=me\n");
        List<String> args = new ArrayList<>(
                List.of("run", "--config=" + file, "--consumer.config=" + other, "--producer.config=" + other));
        args.addAll(line.contains("bootstrap") ? List.of("--target=127.0.0.1:1") : ADDRESSES);
        StringWriter err = new StringWriter();

        assertThat(execute(err, args.toArray(String[]::new))).isEqualTo(2);
        assertThat(err.toString()).hasLineCount(1).contains("--config " + file, expected);
    }

    @Test
    void shouldPreferTheSettingsOfTheCommandLine() throws IOException {
        Path file = write("mirror.yaml", "source: {bootstrap.servers: here, max.poll.records: all}\ntopics: x\n");
        Path other = write("other.properties", "max.poll.records=none\nbootstrap.servers=there");

        MirrorConfig config = config(
                "run",
                "--config=" + file,
                "--consumer.config=" + other,
                "--source=a:1",
                "--target=b:1",
                "--source-setting=max.poll.records=7");

        assertThat(config.consumer()).containsEntry("max.poll.records", "7").containsEntry("bootstrap.servers", "a:1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"mirror.yaml", "mirror.properties"})
    void shouldPassSettingsOnAsTheyAre(String name) throws IOException {
        String password = "sesame\"=x, '${a}' @y";
        Path file = write(
                name,
                name.endsWith(".yaml")
                        ? "target.ssl.key.password: '" + password.replace("'", "''") + "'\ntopics: x\n"
                        : "target.ssl.key.password=" + password + "\ntopics=x\n");

        MirrorConfig config = config("run", "--config=" + file, "--source=a:1", "--target=b:1");

        assertThat(config.producer()).containsEntry("ssl.key.password", password);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            mirror.yaml       | thread: 8                        | thread is not an option of mirror run; did you mean threads?
            mirror.properties | colour=red                       | colour is not an option of mirror run; settings of Kafka's clients begin with source. or target.
            mirror.yaml       | config: other.yaml               | config is not an option
            mirror.yaml       | verbose: 1                       | verbose=1: expected true or false
            mirror.yaml       | threads:                         | threads has no value
            mirror.yaml       | {threads: 8, threads: 9}         | the key at line 1, column 14 is given twice
            mirror.yaml       | {source: {a: 1}, source.a: 2}    | source.a is given twice
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

    private static MirrorConfig config(String... args) {
        CommandLine main = Main.commandLine((stop, left) -> {});
        main.parseArgs(ConfigFile.expand(args, main));
        return MirrorOptions.of(main.getSubcommands().get(args[0]))
                .orElseThrow()
                .toConfig();
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
