package dev.millrace.race;

import dev.millrace.testkit.process.JavaProgram;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Runs racers against brokers that it starts and stops. Used by one thread, which runs one racer at a time. */
public final class RacerRunner implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofMinutes(15);

    private final RaceCommand options;
    private final RaceBrokers brokers;
    private final Consumer<String> warnings;

    /**
     * Starts the brokers.
     *
     * @param warnings gets each line of a racer that is no result
     */
    RacerRunner(RaceCommand options, Consumer<String> warnings) {
        this.options = options;
        this.warnings = warnings;
        brokers = options.startBrokers();
    }

    /**
     * Starts the brokers of a race.
     *
     * @param raceOptions the command line of {@code race}
     * @param warnings gets each line of a racer that is no result
     * @throws ParameterException if the command line is wrong
     */
    public static RacerRunner start(List<String> raceOptions, Consumer<String> warnings) {
        RaceCommand options = new RaceCommand();
        new CommandLine(options).parseArgs(raceOptions.toArray(String[]::new));
        options.checkForProfile();
        return new RacerRunner(options, warnings);
    }

    /** The racers that the options name. */
    public List<RacerJvm> racers() {
        return options.jvms();
    }

    /** What is the same for all racers, in one line. */
    public String describe() {
        return options.describe();
    }

    /** How many records are sent in the measured part of a run. */
    public long records() {
        return options.records();
    }

    /**
     * Runs a racer, blocks until it has ended, and returns the last line that it printed.
     *
     * @throws RaceException if it fails, with its output
     */
    String run(RacerProgram racer, int threads) {
        return lastLine(racer, racer.run(arguments(racer, threads).set("pause_file", ""), PATIENCE));
    }

    /**
     * As {@link #run(RacerProgram, int)}, but with another main class than {@link Racer}.
     *
     * @param main the class that calls {@link Racer}
     * @param jvmOptions in addition to {@link RacerJvm#OPTIONS}
     * @throws RaceException if it fails, with its output
     */
    public String run(RacerJvm racer, int threads, Class<?> main, List<String> jvmOptions) {
        String[] arguments = arguments(racer, threads).set("pause_file", "").commandLine();
        try (JavaProgram program = racer.start(main, jvmOptions, Map.of(), arguments)) {
            return awaitEnd(racer, program);
        }
    }

    /** Runs {@link FirstRecord} with a producer, and returns the last line that it printed. */
    String runFirstRecord(RacerJvm racer) {
        try (JavaProgram program = racer.startFirstRecord(arguments(racer, 1))) {
            return awaitEnd(racer, program);
        }
    }

    /** Prepares the topic for a run, and returns the arguments of the racer, without {@code pause_file}. */
    RacerArguments arguments(RacerProgram racer, int threads) {
        brokers.prepareTopic();
        RacerArguments arguments = options.racerArguments(racer.name(), threads).set("topic", RaceBrokers.TOPIC);
        brokers.clientConfig().forEach(arguments::config);
        return arguments;
    }

    /** As {@link #run(RacerProgram, int)}, for a racer that the caller has started. */
    String awaitEnd(RacerJvm racer, JavaProgram program) {
        return lastLine(racer, new RacerProgram.Ended(program.awaitEnd(PATIENCE), program.output()));
    }

    /**
     * Blocks until a racer has ended that the caller has started.
     *
     * @throws RaceException if it fails, with its output
     */
    void awaitEnd(RacerProgram racer, RacerProgram.Running running) {
        lastLine(racer, running.awaitEnd(PATIENCE));
    }

    private String lastLine(RacerProgram racer, RacerProgram.Ended ended) {
        List<String> lines = ended.output().lines().toList();
        if (ended.exitCode() != 0 || lines.isEmpty()) {
            throw new RaceException(racer.name() + " failed. Its output:\n" + String.join("\n", lines));
        }
        lines.stream().filter(line -> !RaceMetric.isJson(line)).forEach(warnings);
        return lines.get(lines.size() - 1);
    }

    @Override
    public void close() {
        brokers.close();
    }
}
