package dev.millrace.command;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/** Makes the command line of a {@link Command}, which says in one line what is wrong. */
public final class CommandLines {
    private CommandLines() {}

    /**
     * Makes a command line that has its command's name before each error.
     *
     * @param defaults by the name of an option that is shared with other commands, where this command's default is
     *     another
     * @param describeFailure returns what to print when the command throws, or null to print the stack trace
     */
    public static CommandLine of(
            Object command, Map<String, String> defaults, Function<Exception, String> describeFailure) {
        return new CommandLine(command)
                .setDefaultValueProvider(
                        argument -> argument instanceof OptionSpec option ? defaults.get(option.longestName()) : null)
                .setParameterExceptionHandler(CommandLines::explainUsage)
                .setExecutionExceptionHandler((e, line, parsed) -> {
                    String description = describeFailure.apply(e);
                    if (description == null) {
                        throw e;
                    }
                    line.getErr().println(line.getCommandName() + ": " + description);
                    return ExitCode.SOFTWARE;
                });
    }

    /**
     * Checks something about the options of a command.
     *
     * @throws ParameterException if it is not right
     */
    public static void check(CommandSpec command, boolean right, String message) {
        if (!right) {
            throw new ParameterException(command.commandLine(), message);
        }
    }

    /**
     * Checks the value of an option.
     *
     * @throws ParameterException if it is not one of those possible
     */
    public static void checkOneOf(CommandSpec command, String option, String value, String... possible) {
        check(
                command,
                List.of(possible).contains(value),
                option + " " + value + ": only " + String.join(", ", possible) + " are possible");
    }

    /**
     * Returns the time that an option {@code --minutes} asks for.
     *
     * @throws ParameterException if it is not more than 0
     */
    public static Duration minutes(CommandSpec command, double minutes) {
        check(command, minutes > 0, "--minutes is " + minutes + ", must be more than 0");
        return Duration.ofMillis((long) (minutes * 60_000));
    }

    /** Returns a random seed if an option {@code --seed} gives none. */
    public static long seed(Long givenOrNull) {
        return givenOrNull != null ? givenOrNull : ThreadLocalRandom.current().nextLong(1_000_000);
    }

    private static int explainUsage(ParameterException e, String[] arguments) {
        String name = e.getCommandLine().getCommandName();
        e.getCommandLine().getErr().println(name + ": " + e.getMessage() + " (see " + name + " --help)");
        return ExitCode.USAGE;
    }
}
