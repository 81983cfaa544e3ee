package dev.millrace.race;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A racer in a process of its own, with brokers of its own, that does nothing until it gets its turn.
 *
 * <p><b>Threads:</b> one.
 */
final class RestingRacer implements AutoCloseable {
    private final RacerProgram racer;
    private final RacerRunner runner;
    private final Path pauseFile;
    private final RacerProgram.Running running;

    private RestingRacer(RacerProgram racer, RacerRunner runner, Path pauseFile, RacerProgram.Running running) {
        this.racer = racer;
        this.runner = runner;
        this.pauseFile = pauseFile;
        this.running = running;
    }

    /**
     * Starts it, and blocks until it is warm.
     *
     * @param warnings gets each line that it prints and that is no result, when it ends
     * @throws RaceException if it fails, with its output
     */
    static RestingRacer start(RacerProgram racer, int threads, RaceCommand options, Consumer<String> warnings) {
        RacerRunner runner = new RacerRunner(options, warnings);
        try {
            Path pauseFile = Files.createTempFile("millrace-race-", ".pause");
            Files.delete(pauseFile); // the racer creates it
            RacerArguments arguments = runner.arguments(racer, threads).set("pause_file", pauseFile);
            RestingRacer started = new RestingRacer(racer, runner, pauseFile, racer.start(arguments));
            started.awaitRest();
            return started;
        } catch (IOException e) {
            runner.close();
            throw new UncheckedIOException(e);
        } catch (RuntimeException e) {
            runner.close(); // the racer ends with this JVM
            throw e;
        }
    }

    String name() {
        return racer.name();
    }

    /**
     * Lets it send, blocks until all that it has sent has arrived, and returns what it has measured.
     *
     * @throws RaceException if it fails, with its output
     */
    Map<RaceMetric, Double> takeTurn() {
        resume();
        awaitRest();
        List<String> results =
                running.output().lines().filter(RaceMetric::isJson).toList();
        return RaceMetric.fromJson(results.get(results.size() - 1));
    }

    /**
     * Blocks until it has ended after its last turn.
     *
     * @throws RaceException if it fails, with its output
     */
    void end() {
        resume();
        runner.awaitEnd(racer, running);
    }

    private void resume() {
        try {
            PauseFile.resume(pauseFile);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void awaitRest() {
        long startNanos = System.nanoTime();
        try {
            if (!PauseFile.awaitPaused(
                    pauseFile,
                    () -> running.isAlive() && System.nanoTime() - startNanos < RacerRunner.PATIENCE.toNanos())) {
                throw new RaceException(racer.name() + " failed. Its output:\n" + running.output());
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        try (runner) {
            running.close();
            Files.deleteIfExists(pauseFile);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
