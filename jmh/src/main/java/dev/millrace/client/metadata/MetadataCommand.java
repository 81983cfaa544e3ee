package dev.millrace.client.metadata;

import dev.millrace.command.CommandLines;
import dev.millrace.jmh.JsonOption;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import org.openjdk.jol.info.GraphLayout;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command {@code jmh/metadata}: runs {@link ImageBenchmark}, measures pauses, the heap and starts, and tells which goals are
 * reached.
 */
@Command(
        name = "jmh/metadata",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpAutoWidth = true,
        description = {
            "Measures what a change of a cluster's metadata, a full load and a look-up cost, with 12,500 to 100,000 topics of"
                    + " ten partitions: the image of Millrace, the snapshots of published clients, a copied HashMap, and"
                    + " persistent maps of libraries."
                    + " How long look-ups take while the names of all topics are written and while images change."
                    + " And the start of a program that knows topics of its last run, and of one that does not."
                    + " Prints one table, beside the figures of KAFKA-14735, and the goals. JMH's progress goes to standard"
                    + " error.",
            "Exits with 1 if a goal is missed. Takes about an hour; run nothing else at the same time."
        })
final class MetadataCommand implements Callable<Integer> {
    private static final String CHANGES = "ImageBenchmark\\.(oneTopic|brokerLost|fullLoad)";
    private static final String BROKER_LOST = "ImageBenchmark\\.brokerLost";
    private static final String ZONE = "ImageBenchmark\\.zoneLost";
    private static final String LOOK_UPS = "ImageBenchmark\\.lookUp";

    /** A graph of the stock client's objects for more topics takes JOL minutes. */
    private static final int HEAP_TOPICS = 12_500;

    @Option(
            names = "--quick",
            description =
                    "Only 12,500 and 100,000 topics, kafka-clients 4.3.1, no zone lost, of the libraries only the paper's, one"
                            + " JVM each and short measurements: less than three minutes.")
    private boolean quick;

    @Mixin
    private JsonOption json;

    public static void main(String... arguments) {
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        return CommandLines.of(new MetadataCommand(), Map.of(), Exception::getMessage);
    }

    @Override
    public Integer call() throws RunnerException, IOException {
        json.check();
        PrintStream progress = new PrintStream(System.err, true, StandardCharsets.UTF_8);
        Collection<RunResult> runs = new ArrayList<>();
        for (ChainedOptionsBuilder options : quick ? quickRuns() : fullRuns()) {
            Runner runner = new Runner(
                    options.shouldFailOnError(true).build(),
                    OutputFormatFactory.createFormatInstance(progress, VerboseMode.NORMAL));
            runs.addAll(runner.run());
        }
        ImageResults results = new ImageResults();
        results.add(runs);
        measureHeap(results);
        if (!quick) {
            measureHeapOfMany(results);
        }
        PauseTimes.measure(results);
        StartTimes.measure(results);
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        results.table().forEach(out::println);
        out.println();
        results.goals().forEach(out::println);
        json.write(runs);
        return results.areGoalsReached() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }

    private static List<ChainedOptionsBuilder> quickRuns() {
        return List.of(
                quickRun(CHANGES, ImageResults.MILLRACE, ImageResults.KAFKA, ImageResults.MAP),
                quickRun(BROKER_LOST, LibraryMap.PCOLLECTIONS),
                quickRun(LOOK_UPS, ImageResults.MILLRACE, ImageResults.MAP));
    }

    private static ChainedOptionsBuilder quickRun(String benchmarks, String... sides) {
        return new OptionsBuilder()
                .include(benchmarks)
                .param("topics", "12500", "100000")
                .param("side", sides)
                .forks(1)
                .warmupIterations(3)
                .warmupTime(TimeValue.milliseconds(300))
                .measurementIterations(5)
                .measurementTime(TimeValue.milliseconds(200));
    }

    private static List<ChainedOptionsBuilder> fullRuns() {
        return List.of(
                new OptionsBuilder().include(CHANGES).include(ZONE).addProfiler(GCProfiler.class),
                new OptionsBuilder()
                        .include(LOOK_UPS)
                        .param("side", ImageResults.MILLRACE, ImageResults.MAP)
                        .addProfiler(GCProfiler.class),
                new OptionsBuilder()
                        .include(CHANGES)
                        .include(LOOK_UPS)
                        .param("topics", "12500", "100000")
                        .param("side", ImageResults.LIBRARIES.toArray(String[]::new))
                        .warmupIterations(3)
                        .addProfiler(GCProfiler.class));
    }

    private static void measureHeap(ImageResults results) {
        for (String side : List.of(ImageResults.MILLRACE, ImageResults.KAFKA, ImageResults.KAFKA_NEWEST)) {
            Object loaded = loaded(side, HEAP_TOPICS);
            results.addHeap(side, HEAP_TOPICS, GraphLayout.parseInstance(loaded).totalSize());
        }
    }

    /** By what becomes free when nothing refers to the metadata any more: JOL would take minutes. */
    private static void measureHeapOfMany(ImageResults results) {
        for (String side : List.of(ImageResults.MILLRACE, ImageResults.KAFKA, ImageResults.KAFKA_NEWEST)) {
            Object[] held = {loaded(side, StartTimes.MANY)};
            long before;
            try {
                before = usedBytes();
            } finally {
                Reference.reachabilityFence(held[0]);
            }
            held[0] = null;
            results.addHeap(side, StartTimes.MANY, before - usedBytes());
        }
    }

    private static Object loaded(String side, int topics) {
        SampleCluster cluster = new SampleCluster(topics);
        MetadataSide metadata = MetadataSide.of(side, cluster);
        return metadata.load(metadata.read(cluster.topics()));
    }

    private static long usedBytes() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
