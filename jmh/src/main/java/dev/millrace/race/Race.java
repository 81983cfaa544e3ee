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
import java.util.OptionalDouble;

/** Runs every racer in every round, each round in another order, so that no racer is always first. */
final class Race {
    /** The share of the rate that counts as the full rate, because the last records wait for their acknowledgement. */
    private static final double RATE_HELD_SHARE = 0.97;

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
     * @throws RaceException if a racer fails, with its output
     */
    RaceResults run() {
        RaceResults results = new RaceResults(options.describe());
        try (RacerRunner runner = new RacerRunner(options, warning -> progress.print("\n  " + warning))) {
            for (int round = 0; round < options.rounds(); round++) {
                List<RacerProgram> order = new ArrayList<>(racers);
                Collections.rotate(order, round);
                for (int threads : options.threads()) {
                    OptionalDouble load = loadCpu(threads, runner);
                    for (RacerProgram racer : order) {
                        progress.printf(
                                Locale.ROOT,
                                "round %d of %d, %d threads, %s: ",
                                round + 1,
                                options.rounds(),
                                threads,
                                racer.name());
                        Map<RaceMetric, Double> metrics = run(racer, threads, runner);
                        RaceMetric first = metrics.keySet().iterator().next();
                        progress.println(first.show(metrics.get(first)) + " " + first.heading() + notice(metrics));
                        load.ifPresent(nanos -> takeLoadOff(metrics, nanos));
                        results.add(racer.name(), threads, metrics);
                    }
                }
            }
        }
        return results;
    }

    /** The CPU time per record of the load alone. Empty without a rate: then the threads do nothing but send. */
    private OptionalDouble loadCpu(int threads, RacerRunner runner) {
        if (options.rate() == 0) {
            return OptionalDouble.empty();
        }
        Map<RaceMetric, Double> metrics = run(RacerJvm.LOAD, threads, runner);
        return OptionalDouble.of(metrics.get(RaceMetric.CPU_NS_PER_RECORD));
    }

    /** Adds what the producer itself has used, from what the load alone has used. */
    static void takeLoadOff(Map<RaceMetric, Double> metrics, double loadNanos) {
        metrics.put(RaceMetric.LOAD_CPU_NS_PER_RECORD, loadNanos);
        metrics.put(RaceMetric.OWN_CPU_NS_PER_RECORD, metrics.get(RaceMetric.CPU_NS_PER_RECORD) - loadNanos);
    }

    private String notice(Map<RaceMetric, Double> metrics) {
        boolean held = options.rate() == 0 || metrics.get(RaceMetric.RECORDS_PER_S) >= RATE_HELD_SHARE * options.rate();
        return held ? "" : ", less than --rate: the times are those of a producer that cannot keep up";
    }

    private Map<RaceMetric, Double> run(RacerProgram racer, int threads, RacerRunner runner) {
        if (racer instanceof RacerJvm jvm) {
            if (options.isTraced()) {
                return trace(jvm, threads, runner);
            }
            if (options.isFirstRecord()) {
                return RaceMetric.fromJson(runner.runFirstRecord(jvm));
            }
        }
        return RaceMetric.fromJson(runner.run(racer, threads));
    }

    private Map<RaceMetric, Double> trace(RacerJvm racer, int threads, RacerRunner runner) {
        try (TracedRun run = new TracedRun(options.clockSource());
                JavaProgram program = run.start(racer, runner.arguments(racer, threads))) {
            Map<RaceMetric, Double> metrics = run.trace(program, options.records());
            // The racer's own metrics are ignored: counting its clock reads slows it down.
            runner.awaitEnd(racer, program);
            return metrics;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
