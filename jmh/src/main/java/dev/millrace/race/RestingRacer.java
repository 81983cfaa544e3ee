package dev.millrace.race;

import java.io.IOException;
import java.io.UncheckedIOException;
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
     * @param pauseFile must not exist
     * @param warnings gets each line that it prints and that is no result, when it ends
     * @throws RaceException if it fails, with its output
     */
    static RestingRacer start(
            RacerProgram racer, int threads, RaceCommand options, Path pauseFile, Consumer<String> warnings) {
        RacerRunner runner = new RacerRunner(options, warnings);
        try {
            RacerArguments arguments = runner.arguments(racer, threads).set("pause_file", pauseFile);
            RestingRacer started = new RestingRacer(racer, runner, pauseFile, racer.start(arguments));
            started.awaitRest();
            return started;
        } catch (RuntimeException e) {
            runner.close();
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
        try {
            if (!PauseFile.awaitPaused(pauseFile, running::isAlive)) {
                throw new RaceException(racer.name() + " failed. Its output:\n" + running.output());
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        running.close();
        runner.close();
    }
}
