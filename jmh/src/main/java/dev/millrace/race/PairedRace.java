package dev.millrace.race;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * Runs all racers side by side, each with brokers of its own. They send in turns of a second or so, each round in another
 * order, and rest in between. So what the machine does in the course of minutes happens to all of them.
 */
final class PairedRace {
    private final RaceCommand options;
    private final List<RacerProgram> racers;
    private final PrintStream progress;

    PairedRace(RaceCommand options, List<RacerProgram> racers, PrintStream progress) {
        this.options = options;
        this.racers = racers;
        this.progress = progress;
    }

    /**
     * Blocks for minutes.
     *
     * @throws RaceException if a racer fails, with its output
     */
    RaceResults run() {
        RaceResults results = new RaceResults(options.describe());
        for (int threads : options.threads()) {
            run(threads, results);
        }
        return results;
    }

    private void run(int threads, RaceResults results) {
        List<RestingRacer> resting = new ArrayList<>();
        try {
            List<RacerProgram> all = new ArrayList<>(racers);
            if (options.rate() > 0) {
                all.add(RacerJvm.LOAD);
            }
            for (RacerProgram racer : all) {
                progress.printf(Locale.ROOT, "%d threads: %s warms up%n", threads, racer.name());
                resting.add(RestingRacer.start(racer, threads, options, this::warn));
            }
            for (int round = 0; round < options.paired(); round++) {
                race(round, threads, resting, results);
            }
            resting.forEach(RestingRacer::end);
        } finally {
            resting.forEach(RestingRacer::close);
        }
    }

    private void race(int round, int threads, List<RestingRacer> resting, RaceResults results) {
        List<RestingRacer> order = new ArrayList<>(resting);
        Collections.rotate(order, round / 2);
        if (round % 2 == 1) {
            Collections.reverse(order);
        }
        progress.printf(Locale.ROOT, "round %d of %d, %d threads:", round + 1, options.paired(), threads);
        OptionalDouble load = OptionalDouble.empty();
        List<Map.Entry<String, Map<RaceMetric, Double>>> measured = new ArrayList<>();
        for (RestingRacer racer : order) {
            MachineMeter machine = new MachineMeter();
            Map<RaceMetric, Double> metrics = racer.takeTurn();
            metrics.putAll(machine.stop());
            if (racer.name().equals(RacerJvm.LOAD.name())) {
                load = OptionalDouble.of(metrics.get(RaceMetric.CPU_NS_PER_RECORD));
            } else {
                measured.add(Map.entry(racer.name(), metrics));
                progress.printf(Locale.ROOT, " %s %,.0f", racer.name(), metrics.get(RaceMetric.RECORDS_PER_S));
            }
        }
        progress.println();
        for (Map.Entry<String, Map<RaceMetric, Double>> next : measured) {
            load.ifPresent(nanos -> Race.takeLoadOff(next.getValue(), nanos));
            results.add(next.getKey(), threads, next.getValue());
        }
    }

    private void warn(String line) {
        progress.println("  " + line);
    }
}
