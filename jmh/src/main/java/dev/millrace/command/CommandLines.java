package dev.millrace.command;

import java.util.List;
import java.util.Map;
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

    private static int explainUsage(ParameterException e, String[] arguments) {
        String name = e.getCommandLine().getCommandName();
        e.getCommandLine().getErr().println(name + ": " + e.getMessage() + " (see " + name + " --help)");
        return ExitCode.USAGE;
    }
}
