package dev.millrace.testkit.console;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Decides what a build prints about its tests: one line per test class, and for a test that fails its exception and the
 * end of what it printed and logged. All that tests print and log goes to {@code CLASS-log.txt} in the folder that the
 * system property {@value #FOLDER} names, because tests of failures make clients log thousands of warnings. Without
 * that property, as in an IDE, it does nothing.
 *
 * <p><b>Threads:</b> the one that JUnit runs tests on. What other threads print goes to the file of the running class.
 */
public final class TestConsole implements TestExecutionListener {
    static final String FOLDER = "millrace.test.logs";

    private static final int SHOWN_LINES = 60;

    private final Optional<Path> folder =
            Optional.ofNullable(System.getProperty(FOLDER)).map(Path::of);
    private PrintStream console;
    private TestIdentifier running;
    private Path log;
    private PrintStream out;
    private long startNanos;
    private long logSizeAtStart;
    private int passed;
    private int failed;
    private int skipped;

    @Override
    public void testPlanExecutionStarted(TestPlan plan) {
        console = System.out;
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        if (folder.isPresent() && running == null && test.getSource().orElse(null) instanceof ClassSource source) {
            running = test;
            startClass(source.getClassName());
        }
        if (running != null && test.isTest()) {
            logSizeAtStart = logSize();
        }
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        skipped++;
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (running == null) {
            return;
        }
        if (test.isTest() && result.getStatus() == Status.SUCCESSFUL) {
            passed++;
        } else if (test.isTest() && result.getStatus() == Status.ABORTED) {
            skipped++;
        } else if (result.getStatus() == Status.FAILED) {
            failed++;
            showFailure(test, result.getThrowable());
        }
        if (test.equals(running)) {
            endClass();
        }
    }

    private void startClass(String className) {
        log = folder.orElseThrow().resolve(className + "-log.txt");
        startNanos = System.nanoTime();
        logSizeAtStart = 0;
        passed = 0;
        failed = 0;
        skipped = 0;
        try {
            Files.createDirectories(log.getParent());
            out = new PrintStream(Files.newOutputStream(log), true, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write the log of " + className, e);
        }
        System.setOut(out);
        System.setErr(out);
    }

    private void endClass() {
        System.setOut(console);
        System.setErr(console);
        out.close();
        String name = running.getDisplayName();
        running = null;
        console.printf(
                Locale.ROOT,
                "%-6s %-40s %4d passed%s%s, %.1f s%n",
                failed > 0 ? "FAILED" : "ok",
                name,
                passed,
                failed > 0 ? ", " + failed + " failed" : "",
                skipped > 0 ? ", " + skipped + " skipped" : "",
                (System.nanoTime() - startNanos) / (double) TimeUnit.SECONDS.toNanos(1));
    }

    private void showFailure(TestIdentifier test, Optional<Throwable> failure) {
        List<String> lines = loggedSinceStart();
        int first = Math.max(0, lines.size() - SHOWN_LINES);
        console.println("FAILED " + running.getDisplayName() + " " + test.getDisplayName());
        failure.ifPresent(thrown -> thrown.printStackTrace(console));
        console.println("  The last of " + lines.size() + " lines that it logged, all of them in " + log + ":");
        lines.subList(first, lines.size()).forEach(line -> console.println("  | " + line));
    }

    private List<String> loggedSinceStart() {
        try {
            byte[] all = Files.readAllBytes(log);
            int start = (int) Math.min(logSizeAtStart, all.length);
            return new String(all, start, all.length - start, StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        } catch (IOException e) {
            return List.of("(none: " + e + ")");
        }
    }

    private long logSize() {
        try {
            return Files.size(log);
        } catch (IOException e) {
            return 0; // then the end of the whole file is shown
        }
    }
}
