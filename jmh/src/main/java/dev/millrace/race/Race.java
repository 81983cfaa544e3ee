package dev.millrace.race;

import dev.millrace.testkit.JavaProgram;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Runs every racer in every round; each round in another order, so that nobody always runs first. */
final class Race {
    private static final Duration PATIENCE = Duration.ofMinutes(15);

    private final RaceCommand options;
    private final List<RacerJvm> racers;
    private final PrintStream progress;

    Race(RaceCommand options, List<RacerJvm> racers, PrintStream progress) {
        this.options = options;
        this.racers = racers;
        this.progress = progress;
    }

    /**
     * Blocks for minutes.
     *
     * @throws RaceException when a racer fails, with what it said
     */
    Standings run() {
        Standings standings = new Standings(options.describe());
        try (RaceBrokers brokers = options.startBrokers()) {
            for (int round = 0; round < options.rounds(); round++) {
                List<RacerJvm> order = new ArrayList<>(racers);
                Collections.rotate(order, round);
                for (int threads : options.threads()) {
                    for (RacerJvm racer : order) {
                        progress.printf(
                                Locale.ROOT,
                                "round %d of %d, %d threads, %s: ",
                                round + 1,
                                options.rounds(),
                                threads,
                                racer.name());
                        Map<Figure, Double> figures = run(racer, threads, brokers);
                        Figure first = figures.keySet().iterator().next();
                        progress.println(first.show(figures.get(first)) + " " + first.heading());
                        standings.add(racer.name(), threads, figures);
                    }
                }
            }
        }
        return standings;
    }

    private Map<Figure, Double> run(RacerJvm racer, int threads, RaceBrokers brokers) {
        brokers.prepareTopic();
        RacerArguments arguments = options.racer(racer.name(), threads).set("topic", RaceBrokers.TOPIC);
        brokers.clientConfig().forEach(arguments::config);
        if (options.isTraced()) {
            return trace(racer, arguments);
        }
        try (JavaProgram program =
                racer.start(List.of(), arguments.set("gate", "").commandLine())) {
            return awaitEnd(racer, program);
        }
    }

    private Map<Figure, Double> trace(RacerJvm racer, RacerArguments arguments) {
        try (TracedRun run = new TracedRun(options.clockSource());
                JavaProgram program = run.start(racer, arguments)) {
            Map<Figure, Double> figures = run.trace(program, options.records());
            // Its own figures mean nothing: strace slows it down.
            Map<Figure, Double> unused = awaitEnd(racer, program);
            return figures;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private Map<Figure, Double> awaitEnd(RacerJvm racer, JavaProgram program) {
        int exitCode = program.awaitEnd(PATIENCE);
        List<String> lines = program.output().lines().toList();
        if (exitCode != 0 || lines.isEmpty()) {
            throw new RaceException(racer.name() + " failed. It said:\n" + String.join("\n", lines));
        }
        lines.subList(0, lines.size() - 1).forEach(warning -> progress.print("\n  " + warning));
        return Figure.fromJson(lines.get(lines.size() - 1));
    }
}
