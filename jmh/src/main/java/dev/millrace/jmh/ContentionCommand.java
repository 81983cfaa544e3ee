package dev.millrace.jmh;

import dev.millrace.command.CommandLines;
import dev.millrace.command.ThreadsOption;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.NoBenchmarksException;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code jmh/contention}: runs benchmarks at several numbers of threads and prints one table. */
@Command(
        name = "jmh/contention",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpAutoWidth = true,
        description = {
            "Runs the benchmarks at 1, 2, 8 and 32 threads and prints one table: operations per microsecond of all threads"
                    + " with the 99.9 %% confidence interval, CPU time of the process and bytes allocated per operation."
                    + " JMH's progress goes to standard error.",
            "All benchmarks take about half an hour. Run nothing else at the same time.",
            "With --cores it runs 32 threads on so many processors, and prints beside each result what a model of shared cache"
                    + " lines and locks says, also for more processors than there are."
        })
final class ContentionCommand implements Callable<Integer> {
    /** With {@code --cores}, unless there are more processors. */
    private static final int THREADS_ON_CORES = 32;

    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "BENCHMARK",
            arity = "0..*",
            description =
                    "Metadata, Append, Send, Registry, Partitioner, Encoder, Completion, Limit, or a regular expression of"
                            + " JMH, such as Append.*millrace (default: all).")
    private List<String> benchmarks = List.of();

    @Mixin
    private ThreadsOption threads;

    @Option(
            names = "--cores",
            split = ",",
            paramLabel = "N",
            description =
                    "Processors to run on, such as 1,2,8: 1 and at least another number. Takes no BENCHMARK, --threads or"
                            + " --param, because it measures Append and Metadata, and no --json. Needs Linux and"
                            + " taskset.")
    private List<Integer> cores = List.of();

    @Option(
            names = "--forks",
            paramLabel = "N",
            defaultValue = "2",
            description = "JVMs to measure in, one after the other (default: ${DEFAULT-VALUE}).")
    private int forks;

    @Option(
            names = "--iterations",
            paramLabel = "N",
            defaultValue = "5",
            description = "Measurements in each JVM, after 3 for warm-up (default: ${DEFAULT-VALUE}).")
    private int iterations;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            defaultValue = "0.3",
            description = "How long a measurement takes (default: ${DEFAULT-VALUE}).")
    private double seconds;

    @Option(
            names = "--param",
            paramLabel = "NAME=VALUE,…",
            description = "Sets a parameter of the benchmarks, such as topics=1 or choice=KEYED.")
    private List<String> parameters = List.of();

    @Mixin
    private JsonOption json;

    private final PrintStream progress = new PrintStream(System.err, true, StandardCharsets.UTF_8);

    public static void main(String... arguments) {
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        return CommandLines.of(new ContentionCommand(), Map.of("--threads", "1,2,8,32"), Exception::getMessage);
    }

    @Override
    public Integer call() throws RunnerException, IOException, InterruptedException {
        check();
        json.check();
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        if (!cores.isEmpty()) {
            ScalingTable.lines(measureOnCores()).forEach(out::println);
            return CommandLine.ExitCode.OK;
        }
        Collection<RunResult> results = new ArrayList<>();
        List<Integer> numbers = threads.numbers();
        for (int i = 0; i < numbers.size(); i++) {
            progress.printf(Locale.ROOT, "%n==== %d threads (%d of %d)%n", numbers.get(i), i + 1, numbers.size());
            results.addAll(run(benchmarks, numbers.get(i)));
        }
        BenchmarkTable.lines(BenchmarkResult.of(results)).forEach(out::println);
        json.write(results);
        return CommandLine.ExitCode.OK;
    }

    private Map<Integer, Collection<BenchmarkResult>> measureOnCores()
            throws RunnerException, IOException, InterruptedException {
        List<Integer> allowed = CoreSet.allowed();
        CommandLines.check(
                spec,
                Collections.max(cores) <= allowed.size(),
                "--cores " + Collections.max(cores) + ": this process may use only " + allowed.size());
        List<String> methods =
                ScalingTable.SUBJECTS.stream().map(ScalingTable.Subject::method).toList();
        Map<Integer, Collection<BenchmarkResult>> results = new TreeMap<>();
        for (int number : cores) {
            progress.printf(Locale.ROOT, "%n==== %d processors%n", number);
            CoreSet.limitTo(allowed.subList(0, number));
            results.put(number, BenchmarkResult.of(run(methods, Math.max(THREADS_ON_CORES, number))));
        }
        return results;
    }

    private Collection<RunResult> run(List<String> included, int threadCount) throws RunnerException {
        ChainedOptionsBuilder options = options(threadCount);
        included.forEach(options::include);
        try {
            return new Runner(options.build(), OutputFormatFactory.createFormatInstance(progress, VerboseMode.NORMAL))
                    .run();
        } catch (NoBenchmarksException e) {
            throw new ParameterException(
                    spec.commandLine(), "no benchmark is called " + String.join(" or ", included), e);
        }
    }

    private void check() {
        threads.check();
        if (forks < 1 || iterations < 1) {
            throw new ParameterException(spec.commandLine(), "--forks and --iterations take a number from 1 on");
        }
        if (!(seconds >= 0.01)) {
            throw new ParameterException(spec.commandLine(), "--seconds takes 0.01 or more");
        }
        if (!cores.isEmpty()) {
            boolean isEnough = Collections.min(cores) == 1 && Collections.max(cores) > 1;
            CommandLines.check(spec, isEnough, "--cores takes 1 and at least another number, such as 1,2");
            CommandLines.check(
                    spec, benchmarks.isEmpty(), "--cores takes no benchmark: " + String.join(" ", benchmarks));
            for (String other : List.of("--threads", "--param", "--json")) {
                boolean isGiven = spec.commandLine().getParseResult().hasMatchedOption(other);
                CommandLines.check(spec, !isGiven, "--cores takes no " + other + ": leave it out");
            }
        }
        for (String parameter : parameters) {
            if (parameter.indexOf('=') < 1) {
                throw new ParameterException(spec.commandLine(), "--param takes NAME=VALUE, not " + parameter);
            }
        }
    }

    private ChainedOptionsBuilder options(int threadCount) {
        TimeValue time = TimeValue.microseconds((long) (seconds * TimeUnit.SECONDS.toMicros(1)));
        ChainedOptionsBuilder options = new OptionsBuilder()
                .threads(threadCount)
                .forks(forks)
                .warmupTime(time)
                .measurementIterations(iterations)
                .measurementTime(time)
                .addProfiler(GCProfiler.class)
                .addProfiler(CpuProfiler.class)
                .shouldFailOnError(true);
        for (String parameter : parameters) {
            int equals = parameter.indexOf('=');
            options.param(
                    parameter.substring(0, equals),
                    parameter.substring(equals + 1).split(",", -1));
        }
        return options;
    }
}
