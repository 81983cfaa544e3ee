package dev.millrace.command;

import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The option {@code --threads}. A command may have another default, see {@link CommandLines}. */
public final class ThreadsOption {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(
            names = "--threads",
            split = ",",
            paramLabel = "N",
            defaultValue = "32",
            description = "Threads that run at once. race and contention take several numbers and measure each."
                    + " Default: ${DEFAULT-VALUE}.")
    private List<Integer> numbers;

    /** The numbers of threads, in the order of the command line. */
    public List<Integer> numbers() {
        return numbers;
    }

    /**
     * The number of threads of a command that takes only one.
     *
     * @throws ParameterException if several are given
     */
    public int single() {
        CommandLines.check(command, numbers.size() == 1, "--threads: only one number is possible");
        return numbers.get(0);
    }

    /**
     * Checks the numbers.
     *
     * @throws ParameterException if a number is less than 1
     */
    public void check() {
        for (int number : numbers) {
            CommandLines.check(command, number >= 1, "--threads " + number + ": at least 1 is needed");
        }
    }
}
