package dev.millrace.programs;

import dev.millrace.command.CommandLines;
import dev.millrace.command.Table;
import dev.millrace.testkit.figures.RatioOfPairs;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code jmh/programs}. */
@Command(
        name = "programs",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpAutoWidth = true,
        description = {
            "Runs programs of Apache Kafka with Millrace's agent and without it, in turn, between real brokers, and prints the"
                    + " ratios of neighbouring runs: median (95 %% interval of the median; worst tenth).",
            "Every run is a new JVM with the heap that Kafka's scripts give it. Needs Maven, for Kafka's jars."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:all runs succeeded", "1:a run failed", "2:the command line is wrong"})
public final class ProgramsCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(
            names = "--agent",
            paramLabel = "JAR",
            required = true,
            description = "The agent. The script jmh/programs gives it.")
    private Path agent;

    @Option(
            names = "--pairs",
            paramLabel = "N",
            defaultValue = "20",
            description = "How often each program runs with the agent, and without it. Default: ${DEFAULT-VALUE}.")
    private int pairs;

    @Option(
            names = "--records",
            paramLabel = "N",
            defaultValue = "5000000",
            description = "Records of 100 bytes in a run. Default: ${DEFAULT-VALUE}.")
    private int records;

    @Parameters(
            paramLabel = "PROGRAM",
            arity = "0..*",
            description = "producer-performance, mirror-maker-2 or one-record, the time of a JVM that sends one record."
                    + " Default: all.")
    private List<String> names = List.of();

    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        return CommandLines.of(
                new ProgramsCommand(), Map.of(), e -> e instanceof IllegalStateException ? e.getMessage() : null);
    }

    @Override
    public Integer call() {
        CommandLines.check(
                spec,
                pairs >= RatioOfPairs.FEWEST,
                "--pairs " + pairs + ": at least " + RatioOfPairs.FEWEST + " are needed");
        CommandLines.check(spec, records >= 1, "--records " + records + ": at least 1 is needed");
        names.forEach(
                name -> CommandLines.checkOneOf(spec, "PROGRAM", name, MeasuredProgram.NAMES.toArray(String[]::new)));
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("program", "what", "with the agent", "without", "ratio"));
        for (String name : names.isEmpty() ? MeasuredProgram.NAMES : names) {
            try (MeasuredProgram program = MeasuredProgram.named(name, records)) {
                rows.add(measure(program));
            }
        }
        System.out.print(new Table(rows, 2).markdown());
        return ExitCode.OK;
    }

    private List<String> measure(MeasuredProgram program) {
        List<String> withAgent = List.of("-javaagent:" + agent.toAbsolutePath());
        List<Double> with = new ArrayList<>();
        List<Double> without = new ArrayList<>();
        for (int pair = 0; pair < pairs; pair++) {
            boolean isAgentFirst = pair % 2 == 0;
            double first = program.run(isAgentFirst ? withAgent : List.of());
            double second = program.run(isAgentFirst ? List.of() : withAgent);
            with.add(isAgentFirst ? first : second);
            without.add(isAgentFirst ? second : first);
            System.err.printf(
                    Locale.ROOT,
                    "%s, pair %d of %d: %,.0f with the agent, %,.0f without%n",
                    program.name(),
                    pair + 1,
                    pairs,
                    with.get(pair),
                    without.get(pair));
        }
        return List.of(
                program.name(),
                program.unit(),
                String.format(Locale.ROOT, "%,.0f", RatioOfPairs.median(with)),
                String.format(Locale.ROOT, "%,.0f", RatioOfPairs.median(without)),
                RatioOfPairs.of(RatioOfPairs.divide(with, without), program.isMoreBetter())
                        .toString());
    }
}
