package dev.millrace.race;

import static dev.millrace.command.CommandLines.check;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that say how long a racer warms up and is measured. {@code --records} is one of all racers' options. */
final class LengthOptions {
    private static final long WARM_UP_RECORDS = 1_000_000;

    /**
     * How long the JIT compiler takes until it is nearly done, on two cores that it shares with 32 threads. After 8 s
     * its CPU time was still a tenth of what a record seemed to cost the fastest producer.
     */
    private static final long WARM_UP_MILLIS = 20_000;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "How long to send in a run; 0: until --records are sent. Default: ${DEFAULT-VALUE}; 1 with --paired.")
    private long seconds;

    @Option(
            names = "--warmup",
            paramLabel = "N",
            description = "Records sent before the measured ones, again and again for --warmup-ms. Default: 1000000.")
    private Long warmup;

    @Option(
            names = "--warmup-ms",
            paramLabel = "MS",
            description =
                    "How long to warm up; 0: until --warmup records are sent once. Default: 20000; 0 with --warmup.")
    private Long warmupMillis;

    /** @throws ParameterException if an option is wrong, or both {@code --seconds} and {@code --records} are given */
    void checkOptions() {
        check(command, seconds >= 0, "--seconds " + seconds + ": at least 0 is needed");
        check(command, !isGiven("--records") || !isGiven("--seconds"), "--records and --seconds exclude each other");
        check(command, records() >= 1, "--warmup " + records() + ": at least 1 is needed");
        check(
                command,
                warmupMillis == null || warmupMillis >= 0,
                "--warmup-ms " + warmupMillis + ": at least 0 is needed");
    }

    private boolean isGiven(String option) {
        return command.commandLine().getParseResult().hasMatchedOption(option);
    }

    /** How long to send; 0 if a number of records is to be sent. */
    long seconds() {
        if (isGiven("--records")) {
            return 0;
        }
        return isGiven("--paired") && !isGiven("--seconds") ? 1 : seconds;
    }

    private long records() {
        return warmup == null ? WARM_UP_RECORDS : warmup;
    }

    private long millis(boolean traced) {
        if (warmupMillis != null) {
            return warmupMillis;
        }
        return warmup == null && !traced ? WARM_UP_MILLIS : 0;
    }

    /** @param traced whether system calls are counted, which needs no warm compiler */
    void addTo(RacerArguments arguments, boolean traced) {
        arguments.set("seconds", seconds()).set("warmup", records()).set("warmup_ms", millis(traced));
    }
}
