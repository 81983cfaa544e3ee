package dev.millrace.client.metadata;

import dev.millrace.testkit.process.JavaProgram;
import dev.millrace.testkit.process.JavaRuntime;
import dev.millrace.testkit.stub.StubBroker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Measures the start of a program, with the names of topics in {@code millrace.metadata.cache} and without. */
final class StartTimes {
    /** How many topics the file names for the time until the first acknowledgement. */
    static final int FEW = 1_000;

    static final int MANY = 100_000;

    /** How long the brokers take to answer where a record is sent to each of {@link #FEW} topics. */
    private static final int DELAY_MS = 5;

    private static final int ROUNDS = 3;
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private StartTimes() {}

    /** Adds medians to {@code results}; takes some twenty seconds. */
    static void measure(ImageResults results) throws IOException {
        Path folder = Files.createTempDirectory("millrace-start-");
        try {
            for (int topics : new int[] {FEW, MANY}) {
                measureFirst(results, topics, folder.resolve(Integer.toString(topics)));
            }
            measureAll(results, folder.resolve("all"));
        } finally {
            delete(folder);
        }
    }

    /** The time until the first acknowledgement. */
    private static void measureFirst(ImageResults results, int topics, Path cache) throws IOException {
        try (StubBroker brokers = brokers(0)) {
            String[] cold = {brokers.bootstrapServers(), "1"};
            String[] warm = {brokers.bootstrapServers(), "1", cache.toString()};
            remember(warm, topics);
            results.addStart(ImageResults.FIRST_ACK, topics, medianNs(warm, 0), medianNs(cold, 0));
        }
    }

    /** The time in which {@code send} returns for each topic, one after the other. */
    private static void measureAll(ImageResults results, Path cache) throws IOException {
        try (StubBroker brokers = brokers(DELAY_MS)) {
            String[] cold = {brokers.bootstrapServers(), Integer.toString(FEW)};
            String[] warm = {brokers.bootstrapServers(), Integer.toString(FEW), cache.toString()};
            remember(warm, FEW);
            results.addStart(ImageResults.SEND_TO_EACH, FEW, medianNs(warm, 1), medianNs(cold, 1));
        }
    }

    private static StubBroker brokers(int delayMs) {
        return StubBroker.builder()
                .topics(StartProgram.TOPIC_PREFIX, MANY, SampleCluster.PARTITIONS)
                .brokers(3)
                .delayMillis(delayMs)
                .start();
    }

    /** Writes the file that a run with {@code topics} would leave. */
    private static void remember(String[] arguments, int topics) throws IOException {
        runNs(arguments, 0); // so that it has the right name
        Path file;
        try (Stream<Path> files = Files.list(Path.of(arguments[2]))) {
            file = files.findAny().orElseThrow();
        }
        List<String> names = new ArrayList<>();
        for (int i = 0; i < topics; i++) {
            names.add(StartProgram.TOPIC_PREFIX + i);
        }
        new TopicNamesFile(file).write(new TopicNames("stub", names), System.currentTimeMillis());
    }

    private static double medianNs(String[] arguments, int column) {
        double[] sorted = new double[ROUNDS];
        Arrays.setAll(sorted, round -> runNs(arguments, column));
        Arrays.sort(sorted);
        return sorted[ROUNDS / 2];
    }

    private static double runNs(String[] arguments, int column) {
        try (JavaProgram program =
                JavaProgram.start(JavaRuntime.ofThisJvm(), List.of(), StartProgram.class, arguments)) {
            int code = program.awaitEnd(PATIENCE);
            List<String> output = program.output().lines().toList();
            if (code != 0 || output.isEmpty()) {
                throw new IllegalStateException("The program failed. Its output:\n" + program.output());
            }
            return Double.parseDouble(output.get(output.size() - 1).split(" ", 2)[column]);
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            all.sorted(Comparator.reverseOrder()).forEach(path -> {
                try {
                    Files.delete(path);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }
}
