package dev.millrace.race;

import dev.millrace.testkit.JavaProgram;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** What racers are put under: brokers, and what is sent to them. For one thread, and one racer at a time. */
public final class RacerRunner implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(15);

    private final RaceCommand options;
    private final RaceBrokers brokers;
    private final Consumer<String> warnings;

    /**
     * Starts the brokers.
     *
     * @param warnings gets what racers warn of
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
     * @param warnings gets what racers warn of
     * @throws ParameterException when it is wrong
     */
    public static RacerRunner start(List<String> raceOptions, Consumer<String> warnings) {
        RaceCommand options = new RaceCommand();
        new CommandLine(options).parseArgs(raceOptions.toArray(String[]::new));
        options.checkForProfile();
        return new RacerRunner(options, warnings);
    }

    /** Who takes part. */
    public List<RacerJvm> racers() {
        return options.jvms();
    }

    /** What is the same for all racers, in a line. */
    public String describe() {
        return options.describe();
    }

    /** How many are sent in the measured part of a run. */
    public long records() {
        return options.records();
    }

    /**
     * Blocks until a racer has ended, and returns the last line that it printed.
     *
     * @throws RaceException it has failed, with what it said
     */
    String run(RacerProgram racer, int threads) {
        return lastLine(racer, racer.run(arguments(racer, threads).set("pause_file", ""), PATIENCE));
    }

    /**
     * As {@link #run(RacerProgram, int)}, of another program than {@link Racer}.
     *
     * @param main what runs {@link Racer}
     * @param jvmOptions beside {@link RacerJvm#OPTIONS}
     * @throws RaceException it has failed, with what it said
     */
    public String run(RacerJvm racer, int threads, Class<?> main, List<String> jvmOptions) {
        String[] arguments = arguments(racer, threads).set("pause_file", "").commandLine();
        try (JavaProgram program = racer.start(main, jvmOptions, Map.of(), arguments)) {
            return awaitEnd(racer, program);
        }
    }

    /** Makes the topic ready for a run, and returns what the racer is to be told, but for {@code pause_file}. */
    RacerArguments arguments(RacerProgram racer, int threads) {
        brokers.prepareTopic();
        RacerArguments arguments = options.racerArguments(racer.name(), threads).set("topic", RaceBrokers.TOPIC);
        brokers.clientConfig().forEach(arguments::config);
        return arguments;
    }

    /** As {@link #run(RacerProgram, int)}, of a racer that was started elsewhere. */
    String awaitEnd(RacerJvm racer, JavaProgram program) {
        return lastLine(racer, new RacerProgram.Ended(program.awaitEnd(PATIENCE), program.output()));
    }

    private String lastLine(RacerProgram racer, RacerProgram.Ended ended) {
        List<String> lines = ended.output().lines().toList();
        if (ended.exitCode() != 0 || lines.isEmpty()) {
            throw new RaceException(racer.name() + " failed. It said:\n" + String.join("\n", lines));
        }
        lines.subList(0, lines.size() - 1).forEach(warnings);
        return lines.get(lines.size() - 1);
    }

    @Override
    public void close() {
        brokers.close();
    }
}
