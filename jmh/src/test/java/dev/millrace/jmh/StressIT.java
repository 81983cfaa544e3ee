package dev.millrace.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.process.JavaRuntime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A run of jcstress on the lock-free protocols, which takes half a minute on two idle cores. {@code jmh/stress} is the long
 * run, in more JVM modes and with the weakened twins that must fail.
 */
@Tag("thorough")
class StressIT {
    private static final Path TARGET = Path.of("target").toAbsolutePath();

    /** jcstress writes its results into its working directory. */
    private static final Path FOLDER = TARGET.resolve("stress-short");

    /** Must precede the version that JMH needs, with which jcstress cannot read its options. */
    private static final Path OPTIONS_PARSER = TARGET.resolve("stress-lib/jopt-simple.jar");

    /** Many times what it takes on two busy cores. One that does not end has proved nothing, so it fails. */
    private static final long TIME_LIMIT_MINUTES = 20;

    /** The protocols, not the twins, for a second each. */
    private static final List<String> TESTS =
            List.of("-t", "Stress\\.", "-m", "quick", "-iters", "1", "-time", "1000", "-f", "1", "-fsm", "1");

    /** One JVM mode, C2 with randomized code motion, which reorders most; no split compilation. */
    private static final List<String> JVM_MODE = List.of(
            "-sc",
            "false",
            "-jvmArgs",
            "-XX:-TieredCompilation -XX:+UnlockDiagnosticVMOptions -XX:+StressLCM -XX:+StressGCM");

    @Test
    void shouldFindNoForbiddenOutcomeInTheProtocols() throws IOException, InterruptedException {
        // given
        Files.createDirectories(FOLDER);
        Path log = FOLDER.resolve("jcstress.log");
        JavaRuntime runtime = JavaRuntime.ofThisJvm().withFirstOnClassPath(OPTIONS_PARSER);
        ProcessBuilder jcstress = new ProcessBuilder(
                        runtime.home().resolve("bin/java").toString(),
                        "-Xmx256m",
                        "-cp",
                        runtime.classPath(),
                        org.openjdk.jcstress.Main.class.getName(),
                        "-r",
                        FOLDER.toString())
                .directory(FOLDER.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        jcstress.command().addAll(TESTS);
        jcstress.command().addAll(JVM_MODE);

        // when
        Process process = jcstress.start();
        boolean ended;
        try {
            ended = process.waitFor(TIME_LIMIT_MINUTES, TimeUnit.MINUTES);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }

        // then
        String output = Files.readString(log);
        assertThat(output).doesNotContainPattern("\\b[1-9]\\d* (failed|soft errs|hard errs)\\b");
        assertThat(ended)
                .as("jcstress has ended within " + TIME_LIMIT_MINUTES + " minutes")
                .isTrue();
        assertThat(output)
                .containsPattern("All remaining tests: [1-9]\\d* matching")
                .contains("Failed tests: No matches", "Error tests: No matches");
        assertThat(process.exitValue()).isZero();
    }
}
