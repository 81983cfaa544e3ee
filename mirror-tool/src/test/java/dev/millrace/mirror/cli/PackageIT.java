package dev.millrace.mirror.cli;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.UnpackedPackage;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.cluster.SaslMechanism;
import dev.millrace.testkit.cluster.SignedTokens;
import dev.millrace.testkit.oracle.Comparison;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The package that operators unpack, run between real clusters with nothing else: no Java, no variables, few tools. */
class PackageIT {
    private static final List<String> CODECS = List.of("none", "gzip", "snappy", "lz4", "zstd");
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int PARTITIONS = 3;
    private static final int RECORDS = 1_000;

    @TempDir
    private static Path folder;

    private static UnpackedPackage unpacked;

    private static SignedTokens tokens;

    @AutoClose
    private static MirrorFixture clusters;

    private final long seed = Long.getLong("millrace.seed", System.nanoTime());

    @BeforeAll
    static void unpackAndStartClusters() throws Exception {
        unpacked = UnpackedPackage.in(folder);
        tokens = new SignedTokens(folder);
        clusters = new MirrorFixture(builder -> {
            tokens.brokerSettings(Listener.SASL_PLAINTEXT).forEach(builder::setting);
            return builder.listeners(Listener.SSL, Listener.SASL_SSL, Listener.SASL_PLAINTEXT);
        });
    }

    @Test
    void shouldMirrorRecordsOfEveryCodecOverEncryptedConnectionsAndTellOfIt() throws Exception {
        for (String topic : List.of("orders", "payments-eu")) {
            clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
            for (String codec : CODECS) {
                clusters.fill(topic, PARTITIONS, RECORDS, seed, Map.of("compression.type", codec));
            }
        }
        String config = "--config=" + sample();

        try (MirrorProcess mirror = MirrorProcess.start(
                unpacked.isolated(mirror("run", config, "--group=packaged", "--mode=records", "--http=0")))) {
            await("all is committed", () -> clusters.committed("packaged") == 2L * CODECS.size() * RECORDS, mirror);
            URI address = mirror.httpAddress().orElseThrow();
            assertThat(mirror.get("").body()).contains("<html");
            assertThat(mirror.get("metrics").body())
                    .contains("millrace_mirror_records_total{topic=\"orders\",partition=\"0\"}");
            assertThat(run(mirror("status", Integer.toString(address.getPort()))))
                    .contains("running, ready", "payments-eu-0");
            assertThat(mirror.terminate().awaitExit(PATIENCE))
                    .as(mirror.output())
                    .isZero();
        }

        assertThat(clusters.compare("orders")).as("seed %d", seed).matches(Comparison::isExact);
        assertThat(clusters.compare("payments-eu")).as("seed %d", seed).matches(Comparison::isExact);
        assertThat(run(mirror("verify", config, "--group=packaged"))).contains("payments-eu");
    }

    /** Kafka's classes for that need more than Kafka's clients bring. */
    @Test
    void shouldLogInWithATokenFromAFile() throws Exception {
        clusters.source().createTopic("orders-by-token", 1, 1, Map.of());
        tokens.replace(Duration.ofHours(1));
        Map<String, Object> source = clusters.source().clientConfig(Listener.SASL_PLAINTEXT);
        Map<String, Object> target = clusters.target().clientConfig(Listener.SASL_PLAINTEXT);
        source.putAll(tokens.clientSettings());
        target.putAll(tokens.clientSettings());
        ProcessBuilder plan =
                unpacked.isolated(mirror("plan", "--config=" + sample(source, target), "--topics=orders-by-token"));
        plan.environment().put("MIRROR_JAVA_OPTS", "-D" + SignedTokens.ALLOWED_URLS + "=" + tokens.url());

        assertThat(run(plan)).contains("1 topic, at most 0 records to mirror");
    }

    /** Does what Docker would do with files and commands; the base is this machine. */
    @Test
    void shouldRunAsTheDockerfileSays() throws Exception {
        Path sbom = unpacked.root().resolve("sbom.json");
        if (!Files.exists(sbom)) { // because this is not a release build
            UnpackedPackage.copy(unpacked.root().resolve("LICENSE"), sbom);
        }
        Map<String, Path> stages = new HashMap<>();
        Path root = folder; // of the stage that is being built
        List<String> entry = new ArrayList<>();
        List<String> arguments = new ArrayList<>();
        for (String line : Files.readAllLines(unpacked.root().resolve("Dockerfile"))) {
            String[] words = line.split(" ", -1);
            switch (words[0]) {
                case "FROM" -> {
                    root = Files.createTempDirectory(folder, "image");
                    stages.put("--from=" + words[words.length - 1], root);
                }
                case "COPY" -> {
                    Path from = stages.containsKey(words[1])
                            ? Path.of(stages.get(words[1]) + words[2])
                            : unpacked.root().resolve(words[1]).normalize();
                    UnpackedPackage.copy(from, Path.of(root + words[words.length - 1]));
                }
                case "RUN" -> run(exec(line, root));
                case "ENTRYPOINT" -> entry.addAll(exec(line, root));
                case "CMD" -> arguments.addAll(exec(line, root));
                case "#", "", "ARG", "LABEL", "USER", "EXPOSE" -> {} // not about files
                default -> throw new AssertionError("Unexpected in the Dockerfile: " + line);
            }
        }

        assertThat(run(concat(entry, arguments))).contains("take-over");
        assertThat(Path.of(root + "/opt/mirror/sbom.json")).exists();
        assertThat(Path.of(root + "/opt/mirror/samples")).doesNotExist();
        clusters.source().createTopic("orders-in-container", 1, 1, Map.of());
        String plan = run(concat(entry, List.of("plan", "--config=" + sample(), "--topics=orders-in-container")));
        assertThat(plan).contains("1 topic, at most 0 records to mirror; nothing was changed");
    }

    @Test
    void shouldRunWithTheJavaOfAnotherMachineWhenItsOwnIsRemoved() throws Exception {
        Path copied = folder.resolve("other");
        UnpackedPackage.copy(unpacked.root().resolve("bin"), copied.resolve("bin"));
        UnpackedPackage.copy(unpacked.root().resolve("lib"), copied.resolve("lib"));
        ProcessBuilder command =
                unpacked.isolated(List.of(copied.resolve("bin/mirror").toString(), "--version"));
        command.environment().put("JAVA_HOME", System.getProperty("java.home"));

        assertThat(run(command)).startsWith("mirror ").doesNotContain("not from a jar");
    }

    @Test
    void shouldHaveEveryModuleThatAJarNames() throws Exception {
        List<String> args =
                new ArrayList<>(List.of("--multi-release", "17", "--ignore-missing-deps", "--print-module-deps"));
        try (Stream<Path> jars = Files.list(unpacked.root().resolve("lib"))) {
            // It names java.desktop and java.sql, and works without them.
            jars.map(Path::toString)
                    .filter(jar -> !jar.contains("jackson-databind"))
                    .forEach(args::add);
        }
        StringWriter named = new StringWriter();
        StringWriter errors = new StringWriter();
        ToolProvider.findFirst("jdeps")
                .orElseThrow()
                .run(new PrintWriter(named, true), new PrintWriter(errors, true), args.toArray(String[]::new));

        List<String> present = run(List.of(
                        unpacked.root().resolve("runtime/bin/java").toString(), "--list-modules"))
                .lines()
                .map(module -> module.replaceAll("@.*", ""))
                .toList();
        assertThat(named.toString().strip().split(",", -1))
                .as(errors.toString())
                .isSubsetOf(present);
    }

    @Test
    void shouldBeReadableByEveryUser() throws IOException {
        try (Stream<Path> all = Files.walk(unpacked.root())) {
            assertThat(all)
                    .allSatisfy(path -> assertThat(Files.getPosixFilePermissions(path))
                            .contains(PosixFilePermission.OTHERS_READ)
                            .doesNotContain(PosixFilePermission.OTHERS_WRITE));
        }
        assertThat(unpacked.root().resolve("share/man/man1/mirror-run.1")).exists();
        assertThat(unpacked.root().resolve("share/bash-completion/completions/mirror"))
                .exists();
        assertThat(unpacked.root().resolve("systemd/mirror.service")).exists();
        assertThat(unpacked.root().resolve("samples/millrace-mirror.json")).exists();
    }

    /** Such as the exporters of metrics and traces that operators know. */
    @Test
    void shouldTakeAnAgentAsAnyJvmDoes() throws Exception {
        assertThat(run(List.of(unpacked.root().resolve("runtime/bin/java").toString(), "--list-modules")))
                .contains("java.instrument@");
    }

    @Test
    void shouldSayThatTheDemoIsInTheSourceTree() throws Exception {
        try (MirrorProcess process = MirrorProcess.start(unpacked.isolated(mirror("demo", "--threads=1")))) {
            assertThat(process.awaitExit(PATIENCE)).isEqualTo(1);
            assertThat(process.output()).hasLineCount(1).contains("run mirror-tool/mirror in a source tree");
        }
        assertThat(unpacked.root().resolve("share/man/man1/mirror-demo.1")).doesNotExist();
    }

    /** The sample of the package, with the addresses and the certificates of the clusters. */
    private static Path sample() throws IOException {
        return sample(
                clusters.source().clientConfig(Listener.SSL),
                clusters.target().clientConfig(Listener.SASL_SSL, SaslMechanism.SCRAM_SHA_512));
    }

    private static Path sample(Map<String, Object> source, Map<String, Object> target) throws IOException {
        StringBuilder config =
                new StringBuilder(Files.readString(unpacked.root().resolve("samples/mirror.yaml"))
                        .replace("old:9092", source.get("bootstrap.servers").toString())
                        .replace("new:9092", target.get("bootstrap.servers").toString()));
        addSettings(config, "source.", source);
        addSettings(config, "target.", target);
        return Files.writeString(Files.createTempFile(folder, "mirror", ".yaml"), config);
    }

    private static void addSettings(StringBuilder config, String cluster, Map<String, Object> settings) {
        settings.forEach((key, value) -> {
            if (!key.equals("bootstrap.servers")) {
                config.append(cluster).append(key).append(": '").append(value).append("'\n");
            }
        });
    }

    private static List<String> mirror(String... args) {
        return concat(List.of(unpacked.root().resolve("bin/mirror").toString()), List.of(args));
    }

    /** What the command prints, which must end with 0. */
    private static String run(List<String> command) throws InterruptedException {
        return run(unpacked.isolated(command));
    }

    private static String run(ProcessBuilder command) throws InterruptedException {
        try (MirrorProcess process = MirrorProcess.start(command)) {
            assertThat(process.awaitExit(PATIENCE)).as(process.output()).isZero();
            return process.output();
        }
    }

    /** The command of a line of the Dockerfile, such as {@code CMD ["a", "b"]}, with its paths in the image. */
    private static List<String> exec(String line, Path image) {
        return Pattern.compile("\"([^\"]*)\"")
                .matcher(line)
                .results()
                .map(word -> word.group(1))
                .map(word -> word.startsWith("/") ? image + word : word)
                .toList();
    }

    private static List<String> concat(List<String> first, List<String> second) {
        return Stream.concat(first.stream(), second.stream()).toList();
    }
}
