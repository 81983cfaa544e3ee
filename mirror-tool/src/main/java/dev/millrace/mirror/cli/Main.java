package dev.millrace.mirror.cli;

import dev.millrace.mirror.cluster.KafkaLogs;
import dev.millrace.mirror.text.MirrorException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
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
    @SuppressWarnings("unused") // Only its annotation matters.
    private StandardOptions standard;

    @Spec
    private CommandLine.Model.CommandSpec spec;

    public static void main(String[] args) {
        int exitCode = ExitCode.SOFTWARE;
        try {
            exitCode = execute(commandLine(Shutdown::runOnSignal), args);
        } catch (Throwable failure) { // picocli handles only exceptions, not an Error.
            System.err.println("mirror: " + MirrorException.reason(failure));
            if (KafkaLogs.isShowingAll()) {
                failure.printStackTrace();
            }
        } finally {
            Shutdown.exit(exitCode); // Runs even without memory for the message: the hook waits for it.
        }
    }

    /**
     * Returns the command with its subcommands, ready to be executed.
     *
     * @param runOnSignal as in {@link RunCommand}
     */
    public static CommandLine commandLine(BiConsumer<Runnable, Supplier<String>> runOnSignal) {
        CommandLine.tracer().setLevel(CommandLine.TraceLevel.OFF); // Its warnings quote values, including passwords.
        CommandLine main = new CommandLine(new Main())
                .addSubcommand(new RunCommand(runOnSignal))
                .addSubcommand(new PlanCommand())
                .addSubcommand(new VerifyCommand())
                .addSubcommand(new StatusCommand())
                .addSubcommand(new PauseCommand())
                .addSubcommand(new ResumeCommand())
                .addSubcommand(new ThrottleCommand())
                .addSubcommand(new FailoverCommand())
                .addSubcommand(new TakeOverCommand())
                .addSubcommand(new RewindCommand())
                .addSubcommand(new CutoverCommand());
        ServiceLoader.load(AddedCommand.class).forEach(main::addSubcommand);
        return main.addSubcommand(new HelpCommand())
                .setParameterExceptionHandler(Main::explainUsage)
                .setExecutionExceptionHandler(Main::explainFailure);
    }

    /** Executes the command that the arguments name, with the options of the {@code --config} file. */
    static int execute(CommandLine main, String... args) {
        try {
            return main.execute(ConfigFile.expand(args, main));
        } catch (MirrorException e) {
            main.getErr().println(main.getCommandName() + " " + args[0] + ": " + e.getMessage());
            return e.exitCode();
        }
    }

    @Override
    public void run() {
        List<String> commands = new ArrayList<>(spec.subcommands().keySet());
        String last = commands.remove(commands.size() - 1);
        throw new ParameterException(
                spec.commandLine(), "Give a command: " + String.join(", ", commands) + " or " + last);
    }

    private static int explainUsage(ParameterException e, String[] args) {
        CommandLine command = e.getCommandLine();
        String name = command.getCommandSpec().qualifiedName();
        command.getErr()
                .println(name + ": " + e.getMessage() + originOfOptions(e.getMessage(), command) + " (see " + name
                        + " --help)");
        return ExitCode.USAGE;
    }

    /** Names the file of an option, so that nobody looks for a wrong option only on the command line. */
    private static String originOfOptions(String message, CommandLine command) {
        return MirrorOptions.of(command)
                .flatMap(MirrorOptions::file)
                .filter(file -> !message.contains(file.toString()))
                .map(file -> "; " + file.describeOptions(message))
                .orElse("");
    }

    private static int explainFailure(Exception e, CommandLine command, CommandLine.ParseResult parsed) {
        PrintWriter err = command.getErr();
        String message = e instanceof MirrorException ? e.getMessage() : MirrorException.reason(e);
        boolean isUsage = e instanceof MirrorException known && known.exitCode() == ExitCode.USAGE;
        err.println(command.getCommandSpec().qualifiedName() + ": " + message
                + (isUsage ? originOfOptions(message, command) : ""));
        if (KafkaLogs.isShowingAll()) {
            e.printStackTrace(err);
        }
        return e instanceof MirrorException known ? known.exitCode() : ExitCode.SOFTWARE;
    }
}
