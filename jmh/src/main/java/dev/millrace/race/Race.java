package dev.millrace.race;

import dev.millrace.testkit.process.JavaProgram;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Runs every racer in every round; each round in another order, so that nobody always runs first. */
final class Race {
    /** The share of the rate that counts as all of it: the last records wait for their acknowledgement. */
    private static final double HELD = 0.97;

    private final RaceCommand options;
    private final List<RacerProgram> racers;
    private final PrintStream progress;

    Race(RaceCommand options, List<RacerProgram> racers, PrintStream progress) {
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
        try (Load load = new Load(options, warning -> progress.print("\n  " + warning))) {
            for (int round = 0; round < options.rounds(); round++) {
                List<RacerProgram> order = new ArrayList<>(racers);
                Collections.rotate(order, round);
                for (int threads : options.threads()) {
                    for (RacerProgram racer : order) {
                        progress.printf(
                                Locale.ROOT,
                                "round %d of %d, %d threads, %s: ",
                                round + 1,
                                options.rounds(),
                                threads,
                                racer.name());
                        Map<Figure, Double> figures = run(racer, threads, load);
                        Figure first = figures.keySet().iterator().next();
                        progress.println(first.show(figures.get(first)) + " " + first.heading() + notice(figures));
                        standings.add(racer.name(), threads, figures);
                    }
                }
            }
        }
        return standings;
    }

    private String notice(Map<Figure, Double> figures) {
        boolean held = options.rate() == 0 || figures.get(Figure.RECORDS_PER_S) >= HELD * options.rate();
        return held ? "" : ", less than --rate: its times are those of a producer that cannot keep up";
    }

    private Map<Figure, Double> run(RacerProgram racer, int threads, Load load) {
        return options.isTraced() && racer instanceof RacerJvm jvm
                ? trace(jvm, threads, load)
                : Figure.fromJson(load.run(racer, threads));
    }

    private Map<Figure, Double> trace(RacerJvm racer, int threads, Load load) {
        try (TracedRun run = new TracedRun(options.clockSource());
                JavaProgram program = run.start(racer, load.arguments(racer, threads))) {
            Map<Figure, Double> figures = run.trace(program, options.records());
            // Its own figures mean nothing: to count its clock reads slows it down.
            load.awaitEnd(racer, program);
            return figures;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
