package dev.millrace.soak;

import dev.millrace.command.CommandLines;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code testkit/soak}. */
@Command(
        name = "soak",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpAutoWidth = true,
        description = {
            "Opens many producers one after the other, has them send, and closes them in different ways; then sends through"
                    + " one producer at a fixed rate, while topics come and go. The broker is a real one.",
            "Tells what was left after each part: memory after collections, buffers, threads, beans of metrics, open files."
                    + " The last line has the verdict."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:nothing is left", "1:something is left", "2:the command line is wrong"})
public final class SoakCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(
            names = "--minutes",
            paramLabel = "N",
            defaultValue = "30",
            description = "How long to send at a fixed rate, such as 0.5. Default: ${DEFAULT-VALUE}.")
    private double minutes;

    @Option(
            names = "--cycles",
            paramLabel = "N",
            defaultValue = "2000",
            description = "How many producers to open and close. Default: ${DEFAULT-VALUE}.")
    private int cycles;

    @Option(
            names = "--rate",
            paramLabel = "N",
            defaultValue = "2000",
            description = "Records per second, of 200 bytes. Default: ${DEFAULT-VALUE}.")
    private int rate;

    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        return CommandLines.of(new SoakCommand(), Map.of(), e -> null);
    }

    @Override
    public Integer call() throws Exception {
        Duration time = CommandLines.minutes(spec, minutes);
        CommandLines.check(spec, cycles >= 100, "--cycles is " + cycles + ", must be 100 or more");
        CommandLines.check(spec, rate > 0, "--rate is " + rate + ", must be more than 0");
        try (KafkaCluster cluster = SoakRun.startCluster()) {
            SoakRun run = new SoakRun(cluster, System.out);
            run.openAndClose(cycles);
            run.sendSteadily(time, rate);
            System.out.println(run.leaks().isEmpty() ? "nothing is left" : "left: " + run.leaks());
            return run.leaks().isEmpty() ? ExitCode.OK : ExitCode.SOFTWARE;
        }
    }
}
