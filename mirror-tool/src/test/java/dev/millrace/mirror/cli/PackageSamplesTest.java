package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The files of the package that a user begins with name only what there is. */
class PackageSamplesTest {
    private static final Path PACKAGE = Path.of("src", "main", "package");
    private static final Path SAMPLE = PACKAGE.resolve("samples/mirror.yaml");

    private final CommandLine main = Main.commandLine((stop, left) -> {});

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"run", "plan", "verify"})
    void shouldTakeTheSampleAsItIs(String command) {
        main.parseArgs(ConfigFile.expand(new String[] {command, "--config=" + SAMPLE}, main));
    }

    @Test
    void shouldTakeAllThatTheSampleOffers() throws IOException {
        String all = Files.readString(SAMPLE).replaceAll("(?m)^#(?=(  )?\\S)", "");
        Path file = Files.writeString(folder.resolve("mirror.yaml"), all);

        String[] expanded = ConfigFile.expand(new String[] {"run", "--config=" + file}, main);

        main.parseArgs(expanded);
        ConfigFile config = MirrorOptions.of(main.getSubcommands().get("run"))
                .flatMap(MirrorOptions::file)
                .orElseThrow();
        assertThat(settings(config, "source.")).contains("sasl.jaas.config").isSubsetOf(ConsumerConfig.configNames());
        assertThat(settings(config, "target."))
                .contains("ssl.truststore.password")
                .isSubsetOf(ProducerConfig.configNames());
        assertThat(List.of(expanded)).contains("--on-refused=dead-letter", "--resume=exactly-once", "--http=9464");
    }

    @Test
    void shouldScrapeThePortOfTheSample() throws IOException {
        assertThat(Files.readString(SAMPLE)).contains("\nhttp: 9464\n");
        assertThat(Files.readString(PACKAGE.resolve("samples/prometheus.yml"))).contains("'localhost:9464'");
    }

    @Test
    void shouldStartInTheServiceWhatThereIs() throws IOException {
        List<String> unit = Files.readAllLines(PACKAGE.resolve("systemd/mirror.service"));

        String start = unit.stream()
                .filter(line -> line.startsWith("ExecStart="))
                .findFirst()
                .orElseThrow();

        assertThat(start).startsWith("ExecStart=/opt/mirror/bin/mirror run ");
        List<String> args =
                new ArrayList<>(List.of(start.substring(start.indexOf("run")).split(" ")));
        args.addAll(List.of("--source=a:1", "--target=b:1", "--topics=x")); // what that file would have
        main.parseArgs(args.toArray(String[]::new));
        assertThat(unit).contains("RestartPreventExitStatus=" + CommandLine.ExitCode.USAGE);
    }

    private static Set<String> settings(ConfigFile config, String section) {
        GivenSettings given = new GivenSettings();
        config.addSettings(given, section);
        return given.names().keySet();
    }
}
