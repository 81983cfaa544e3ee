package dev.millrace.jmh;

import dev.millrace.command.CommandLines;
import dev.millrace.command.ThreadsOption;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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
            "All benchmarks take about half an hour. Run nothing else at the same time."
        })
final class ContentionCommand implements Callable<Integer> {
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

    public static void main(String... arguments) {
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        return CommandLines.of(new ContentionCommand(), Map.of("--threads", "1,2,8,32"), Exception::getMessage);
    }

    @Override
    public Integer call() throws RunnerException, IOException {
        check();
        json.check();
        PrintStream progress = new PrintStream(System.err, true, StandardCharsets.UTF_8);
        Collection<RunResult> results = new ArrayList<>();
        List<Integer> numbers = threads.numbers();
        for (int i = 0; i < numbers.size(); i++) {
            progress.printf(Locale.ROOT, "%n==== %d threads (%d of %d)%n", numbers.get(i), i + 1, numbers.size());
            Runner runner = new Runner(
                    options(numbers.get(i)).build(),
                    OutputFormatFactory.createFormatInstance(progress, VerboseMode.NORMAL));
            try {
                results.addAll(runner.run());
            } catch (NoBenchmarksException e) {
                throw new ParameterException(
                        spec.commandLine(), "no benchmark is called " + String.join(" or ", benchmarks), e);
            }
        }
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BenchmarkTable.lines(BenchmarkResult.of(results)).forEach(out::println);
        json.write(results);
        return CommandLine.ExitCode.OK;
    }

    private void check() {
        threads.check();
        if (forks < 1 || iterations < 1) {
            throw new ParameterException(spec.commandLine(), "--forks and --iterations take a number from 1 on");
        }
        if (!(seconds >= 0.01)) {
            throw new ParameterException(spec.commandLine(), "--seconds takes 0.01 or more");
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
        benchmarks.forEach(options::include);
        for (String parameter : parameters) {
            int equals = parameter.indexOf('=');
            options.param(
                    parameter.substring(0, equals),
                    parameter.substring(equals + 1).split(",", -1));
        }
        return options;
    }
}
