package dev.millrace.race;

import dev.millrace.command.CommandLines;
import java.util.List;
import java.util.TreeSet;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options {@code --producers} and {@code --records}: which racers run, and how much each sends. */
public final class RacersOptions {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(
            names = "--producers",
            split = ",",
            paramLabel = "NAME",
            defaultValue = "millrace,kafka-4.3.1,kafka-4.4.0",
            description =
                    "Producers to run: millrace and kafka-VERSION. race also runs franz-go (needs Go) and librdkafka"
                            + " (needs C and the library), but not with --tls, --rate or --syscalls."
                            + " Default: ${DEFAULT-VALUE}.")
    private List<String> producers;

    @Option(
            names = "--records",
            paramLabel = "N",
            defaultValue = "5000000",
            description = "Records that all threads together send in a run. Default: ${DEFAULT-VALUE}.")
    private long records;

    /** The names in the order of the command line. */
    public List<String> producers() {
        return producers;
    }

    public long records() {
        return records;
    }

    /** @throws ParameterException if a number is less than 1, or a name is there twice */
    void check() {
        CommandLines.check(command, records >= 1, "--records " + records + ": at least 1 is needed");
        CommandLines.check(
                command,
                new TreeSet<>(producers).size() == producers.size(),
                "--producers " + String.join(",", producers) + ": one is named twice");
    }
}
