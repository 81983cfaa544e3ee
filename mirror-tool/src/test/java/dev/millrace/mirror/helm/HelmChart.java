package dev.millrace.mirror.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The chart as Helm itself reads it. Go builds Helm from its module once; that takes minutes if Go's cache is empty. A test that
 * needs it is left out where there is no Go.
 */
final class HelmChart {
    static final Path EXAMPLES = Path.of("helm", "examples");

    private static final String VERSION = "v4.3.2";
    private static final Path FOLDER = Path.of("target", "helm-" + VERSION).toAbsolutePath();
    private static final Path HELM = FOLDER.resolve("helm");
    private static final Path LOCK = Path.of("target", "helm.lock");
    private static final String CHART = Path.of("helm", "millrace-mirror").toString();
    private static final String RELEASE = "mirror";
    static final String NAMESPACE = "kafka";

    private HelmChart() {}

    /** What a command prints. */
    record Result(int exitCode, String output) {}

    /** Builds Helm, unless it is there. The JVMs of other tests wait for that. */
    static synchronized void buildHelm() throws IOException {
        try (FileChannel file = FileChannel.open(LOCK, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            file.lock(); // until the file is closed
            if (!Files.exists(HELM)) {
                build();
            }
        }
    }

    private static void build() {
        boolean isGoHere = Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, "go")));
        assumeTrue(isGoHere, "There is no Go (go), which builds Helm");
        ProcessBuilder build = new ProcessBuilder(
                "go", "install", "-trimpath", "-ldflags=-s -w", "helm.sh/helm/v4/cmd/helm@" + VERSION);
        build.environment().put("GOBIN", FOLDER.toString());
        build.environment().put("CGO_ENABLED", "0");
        Result result = run(build.redirectErrorStream(true));
        assertThat(result.exitCode()).as(result.output()).isZero();
    }

    static Result lint(Path... values) {
        return helm("lint", List.of("--strict"), values);
    }

    /** Renders all that the chart has for these files of values. */
    static Manifests render(Path... values) throws IOException {
        Result result = template(List.of(), values);
        assertThat(result.exitCode()).as(result.output()).isZero();
        return Manifests.parse(result.output());
    }

    static Result template(List<String> options, Path... values) {
        return helm(
                "template",
                Stream.concat(Stream.of("--name-template", RELEASE, "--namespace", NAMESPACE), options.stream())
                        .toList(),
                values);
    }

    private static Result helm(String command, List<String> options, Path... values) {
        List<String> line = new ArrayList<>(List.of(HELM.toString(), command));
        line.add(CHART);
        line.addAll(options);
        for (Path file : values) {
            line.addAll(List.of("--values", file.toString()));
        }
        return run(new ProcessBuilder(line).redirectErrorStream(true));
    }

    private static Result run(ProcessBuilder command) {
        try {
            Process process = command.start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Result(process.waitFor(), output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
