package dev.millrace.mirror.cli;

import dev.millrace.mirror.KafkaLogs;
import dev.millrace.mirror.MirrorException;
import dev.millrace.mirror.demo.DemoCommand;
import java.io.PrintWriter;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The {@code mirror} command. Reports any failure in one line on standard error. */
@Command(
        name = "mirror",
        synopsisSubcommandLabel = "COMMAND",
        description = "Mirrors topics from one Kafka cluster to another.")
public final class Main implements Runnable {
    @Mixin
    @SuppressWarnings("unused") // Its annotation is what counts.
    private StandardOptions standard;

    @Spec
    private CommandLine.Model.CommandSpec spec;

    public static void main(String[] args) {
        int exitCode = ExitCode.SOFTWARE;
        try {
            exitCode = commandLine(Shutdown::runOnSignal).execute(args);
        } catch (Throwable failure) { // An Error: picocli handles only exceptions.
            System.err.println("mirror: " + MirrorException.reason(failure));
            if (KafkaLogs.isShowingAll()) {
                failure.printStackTrace();
            }
        } finally {
            Shutdown.exit(exitCode); // Even if there is no memory for the message: the shutdown hook waits for this.
        }
    }

    /**
     * The command with its subcommands, ready to be executed.
     *
     * @param runOnSignal as {@link RunCommand} has it
     */
    static CommandLine commandLine(BiConsumer<Runnable, Supplier<String>> runOnSignal) {
        return new CommandLine(new Main())
                .addSubcommand(new RunCommand(runOnSignal))
                .addSubcommand(new DemoCommand())
                .addSubcommand(new HelpCommand())
                .setParameterExceptionHandler(Main::explainUsage)
                .setExecutionExceptionHandler(Main::explainFailure);
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Give a command: run, demo or help");
    }

    private static int explainUsage(ParameterException e, String[] args) {
        CommandLine command = e.getCommandLine();
        String name = command.getCommandSpec().qualifiedName();
        command.getErr().println(name + ": " + e.getMessage() + " (see " + name + " --help)");
        return ExitCode.USAGE;
    }

    private static int explainFailure(Exception e, CommandLine command, CommandLine.ParseResult parsed) {
        PrintWriter err = command.getErr();
        err.println(command.getCommandSpec().qualifiedName() + ": "
                + (e instanceof MirrorException ? e.getMessage() : MirrorException.reason(e)));
        if (KafkaLogs.isShowingAll()) {
            e.printStackTrace(err);
        }
        return e instanceof MirrorException known ? known.exitCode() : ExitCode.SOFTWARE;
    }
}
