package dev.millrace.client.metadata;

import dev.millrace.command.Table;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.RunResult;

/**
 * The times of {@link ImageBenchmark} and {@link StartTimes} and the heap that each side takes, beside those of
 * KAFKA-14735, and what they are expected to be.
 */
final class ImageResults {
    static final String MILLRACE = "millrace";
    static final String KAFKA = "kafka-4.3.1";
    static final String KAFKA_NEWEST = "kafka-4.4.0";
    static final String MAP = "copied-map";

    /** The libraries' maps; the first is what the paper's persistent version is made of. */
    static final List<String> LIBRARIES = List.of(LibraryMap.PCOLLECTIONS, LibraryMap.SCALA, LibraryMap.PAGURO);

    static final String COLD = "cold";
    static final String HEAP = "heap";
    static final String FIRST_ACK = "firstAck";
    static final String SEND_TO_EACH = "sendToEach";
    static final String WHILE_WRITTEN = "p99.9 while written";
    static final String WHILE_CHANGED = "p99.9 while changed";

    /** The same work beside the image instead of on it. */
    static final String APART = "same work apart";

    private static final String ONE_TOPIC = "oneTopic";
    private static final String BROKER_LOST = "brokerLost";
    private static final String FULL_LOAD = "fullLoad";
    private static final String LOOK_UP = "lookUp";
    private static final List<String> MEASURES = List.of(
            ONE_TOPIC,
            BROKER_LOST,
            "zoneLost",
            FULL_LOAD,
            LOOK_UP,
            WHILE_WRITTEN,
            WHILE_CHANGED,
            HEAP,
            FIRST_ACK,
            SEND_TO_EACH);

    private static final List<Integer> SIZES = List.of(12_500, 25_000, 50_000, 100_000);

    private static final List<Integer> ALL_SIZES =
            Stream.concat(Stream.of(StartTimes.FEW), SIZES.stream()).toList();

    /** Of the paper, in nanoseconds by size: before and after. */
    private static final Map<String, List<List<Double>>> PAPER = Map.of(
            ONE_TOPIC,
            List.of(List.of(1.41e6, 3.57e6, 14.1e6, 31.1e6), List.of(258.0, 265.0, 273.0, 222.0)),
            BROKER_LOST,
            List.of(List.of(5.2e6, 10.6e6, 21.7e6, 47.7e6), List.of(4.4e6, 6.9e6, 10.2e6, 11.6e6)),
            FULL_LOAD,
            List.of(List.of(9.2e6, 20.7e6, 41.6e6, 110.8e6), List.of(13.7e6, 28.9e6, 67.6e6, 126.0e6)));

    /**
     * Something that must be reached.
     *
     * @param bound the largest ratio if {@code isMost}, else the least
     */
    private record Goal(String what, double ratio, boolean isMost, double bound) {
        boolean isReached() {
            return isMost ? ratio <= bound : ratio >= bound;
        }

        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "%-6s %s: %s, and must be at %s %s",
                    isReached() ? "ok" : "MISSED",
                    what,
                    number(ratio),
                    isMost ? "most" : "least",
                    number(bound));
        }
    }

    private record Key(String measure, String side, int topics) {}

    private final Map<Key, Double> values = new HashMap<>();
    private final Map<Key, Double> errors = new HashMap<>();

    void add(Collection<RunResult> runs) {
        for (RunResult run : runs) {
            BenchmarkParams params = run.getParams();
            String name = params.getBenchmark();
            Key key = new Key(
                    name.substring(name.lastIndexOf('.') + 1),
                    params.getParam("side"),
                    Integer.parseInt(params.getParam("topics")));
            values.put(key, run.getPrimaryResult().getScore());
            errors.put(key, run.getPrimaryResult().getScoreError());
        }
    }

    void addHeap(String side, int topics, long bytes) {
        values.put(new Key(HEAP, side, topics), (double) bytes);
    }

    /** Nanoseconds of a start with {@code millrace.metadata.cache}, and without. */
    void addStart(String measure, int topics, double warm, double cold) {
        values.put(new Key(measure, MILLRACE, topics), warm);
        values.put(new Key(measure, COLD, topics), cold);
    }

    /** Nanoseconds of look-ups while others work with the image, and while they do the same apart. */
    void addPause(String measure, int topics, double withImage, double apart) {
        values.put(new Key(measure, MILLRACE, topics), withImage);
        values.put(new Key(measure, APART, topics), apart);
    }

    /** Nanoseconds, or bytes of heap; NaN if not measured. */
    private double value(String measure, String side, int topics) {
        return values.getOrDefault(new Key(measure, side, topics), Double.NaN);
    }

    private double ratio(String measure, String side, int topics) {
        return value(measure, side, topics) / value(measure, MILLRACE, topics);
    }

    List<String> table() {
        List<String> others = new ArrayList<>(List.of(KAFKA, KAFKA_NEWEST, MAP));
        others.addAll(LIBRARIES);
        others.addAll(List.of(APART, COLD));
        others.removeIf(side -> values.keySet().stream().noneMatch(key -> key.side.equals(side)));
        List<List<String>> rows = new ArrayList<>();
        List<String> header = new ArrayList<>(List.of("", "topics", "Millrace", "± error"));
        others.forEach(side -> header.add("× " + side));
        header.addAll(List.of("paper: before", "after"));
        rows.add(header);
        for (String measure : MEASURES) {
            for (int topics : ALL_SIZES) {
                if (!Double.isNaN(value(measure, MILLRACE, topics))) {
                    rows.add(row(measure, topics, others));
                }
            }
        }
        return new Table(rows, 1).plain();
    }

    private List<String> row(String measure, int topics, List<String> others) {
        double error = errors.getOrDefault(new Key(measure, MILLRACE, topics), Double.NaN);
        List<String> row = new ArrayList<>();
        row.add(measure);
        row.add(Integer.toString(topics));
        row.add(quantity(measure, value(measure, MILLRACE, topics)));
        row.add(Double.isNaN(error) ? "" : quantity(measure, error));
        others.forEach(side -> row.add(number(ratio(measure, side, topics))));
        row.add(quantity(measure, paper(measure, 0, topics)));
        row.add(quantity(measure, paper(measure, 1, topics)));
        return row;
    }

    private static double paper(String measure, int column, int topics) {
        return PAPER.containsKey(measure) ? PAPER.get(measure).get(column).get(SIZES.indexOf(topics)) : Double.NaN;
    }

    /** A line for each goal. */
    List<String> goals() {
        return allGoals().stream().map(Goal::toString).toList();
    }

    boolean areGoalsReached() {
        return allGoals().stream().allMatch(Goal::isReached);
    }

    /**
     * For a lost broker the paper's persistent version runs here itself, beside the copied {@code HashMap}. An earlier
     * goal took from the paper how much faster that version is than its copy (1.18 to 4.1 times), and asked for three
     * times as much beside ours. That goal was derived wrongly: there the copy is 27 to 65 % of the time of one side,
     * here some 15 % with 12,500 topics. The rest is the comparison of topics, the same on each side, so that with no
     * cost for the map at all the ratio would be 1.2 instead of the 3.55 asked for.
     */
    private List<Goal> allGoals() {
        int least = SIZES.get(0);
        int most = SIZES.get(SIZES.size() - 1);
        List<Goal> goals = new ArrayList<>();
        goals.add(new Goal(
                "one topic changed, 100,000 topics to 12,500",
                value(ONE_TOPIC, MILLRACE, most) / value(ONE_TOPIC, MILLRACE, least),
                true,
                1.3));
        goals.add(new Goal("one topic changed, 4.3.1, 12,500", ratio(ONE_TOPIC, KAFKA, least), false, 1_000));
        goals.add(new Goal("one topic changed, 4.3.1, 100,000", ratio(ONE_TOPIC, KAFKA, most), false, 10_000));
        for (int topics : List.of(least, most)) {
            goals.add(new Goal(
                    "a broker of the zone lost, the paper's persistent map, " + topics,
                    ratio(BROKER_LOST, LibraryMap.PCOLLECTIONS, topics),
                    false,
                    3));
            goals.add(new Goal("full load, presized HashMap, " + topics, ratio(FULL_LOAD, MAP, topics), false, 1));
            goals.add(new Goal("look-up, HashMap, " + topics, ratio(LOOK_UP, MAP, topics), false, 0.9));
        }
        for (String measure : List.of(WHILE_WRITTEN, WHILE_CHANGED)) {
            // A thread that waited for a write or a change would wait some milliseconds, thousands of times as long.
            goals.add(new Goal(
                    "look-ups, " + measure + ", to the same work apart", 1 / ratio(measure, APART, most), true, 2));
        }
        for (int topics : List.of(least, most)) {
            if (!Double.isNaN(value(HEAP, KAFKA, topics))) {
                goals.add(new Goal("heap, 4.3.1, " + topics, ratio(HEAP, KAFKA, topics), false, 4));
            }
        }
        goals.add(new Goal(
                "warm start to the first acknowledgement, 100,000 topics to 1,000",
                value(FIRST_ACK, MILLRACE, StartTimes.MANY) / value(FIRST_ACK, MILLRACE, StartTimes.FEW),
                true,
                2));
        return goals;
    }

    private static String quantity(String measure, double value) {
        if (Double.isNaN(value)) {
            return "";
        }
        if (measure.equals(HEAP)) {
            return number(value / 1e6) + " MB";
        }
        return value >= 1e6
                ? number(value / 1e6) + " ms"
                : value >= 1e3 ? number(value / 1e3) + " µs" : number(value) + " ns";
    }

    /** With three significant digits. */
    private static String number(double value) {
        if (Double.isNaN(value)) {
            return "";
        }
        int decimals =
                (int) IntStream.of(1, 10, 100).filter(bound -> value < bound).count() - (value < 1 ? 1 : 0);
        return String.format(Locale.ROOT, "%,." + Math.max(0, decimals) + "f", value);
    }
}
