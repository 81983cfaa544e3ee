package dev.millrace.race;

import dev.millrace.testkit.JavaProgram;
import java.io.PrintStream;
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
                        progress.println(Figure.RECORDS_PER_S.show(figures.get(Figure.RECORDS_PER_S)) + " records/s");
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
        try (JavaProgram program = racer.start(List.of(), arguments.commandLine())) {
            int exitCode = program.awaitEnd(PATIENCE);
            List<String> lines = program.output().lines().toList();
            if (exitCode != 0 || lines.isEmpty()) {
                throw new RaceException(racer.name() + " failed. It said:\n" + String.join("\n", lines));
            }
            lines.subList(0, lines.size() - 1).forEach(warning -> progress.print("\n  " + warning));
            return Figure.fromJson(lines.get(lines.size() - 1));
        }
    }
}
