package dev.millrace.race;

import dev.millrace.command.Table;
import dev.millrace.testkit.figures.RatioOfPairs;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What the runs measured, as a table and as JSON. For each racer it shows medians over the rounds. Ratios
 * are calculated within each round, from runs that were close in time.
 */
final class RaceResults {
    /** What the ratios of many rounds are shown for. */
    private static final Set<RaceMetric> COMPARED = EnumSet.of(
            RaceMetric.RECORDS_PER_S,
            RaceMetric.CPU_NS_PER_RECORD,
            RaceMetric.OWN_CPU_NS_PER_RECORD,
            RaceMetric.SEND_P999_US,
            RaceMetric.ACK_P50_MS,
            RaceMetric.ACK_P99_MS);

    private final String description;
    private final Map<Entry, List<Map<RaceMetric, Double>>> runs = new LinkedHashMap<>();

    /** @param description what was run, for the first line of the table */
    RaceResults(String description) {
        this.description = description;
    }

    private record Entry(String producer, int threads) {}

    /** The names in the order in which they ran first. */
    Set<String> producers() {
        return runs.keySet().stream().map(Entry::producer).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    boolean isMeasured(RaceMetric metric) {
        return runs.values().stream().anyMatch(rounds -> rounds.get(0).containsKey(metric));
    }

    /** The median of a producer's runs, which had one number of threads; empty if it was not measured. */
    Optional<Double> median(String producer, RaceMetric metric) {
        return entry(producer).flatMap(entry -> spread(entry, metric)).map(MedianAndRange::median);
    }

    /** What Millrace measured, divided by what another producer measured in the same round; as text. */
    Optional<String> ratioOfMillraceTo(String other, RaceMetric metric) {
        return entry(RacerJvm.MILLRACE)
                .flatMap(millrace -> entry(other).flatMap(entry -> ratios(millrace, entry, metric)))
                .map(ratios -> ratios.size() < RatioOfPairs.FEWEST
                        ? String.format(
                                Locale.ROOT, "%.2f", MedianAndRange.of(ratios).median())
                        : RatioOfPairs.of(ratios, metric.isMoreBetter()).toString());
    }

    private Optional<Entry> entry(String producer) {
        return runs.keySet().stream()
                .filter(entry -> entry.producer.equals(producer))
                .findFirst();
    }

    /** Adds a run. Call it for every racer in each round. */
    void add(String producer, int threads, Map<RaceMetric, Double> metrics) {
        runs.computeIfAbsent(new Entry(producer, threads), entry -> new ArrayList<>())
                .add(metrics);
    }

    /** Empty if not every run has this metric. */
    private Optional<MedianAndRange> spread(Entry entry, RaceMetric metric) {
        List<Double> values = runs.get(entry).stream()
                .filter(run -> run.containsKey(metric))
                .map(run -> run.get(metric))
                .toList();
        return values.size() < runs.get(entry).size() ? Optional.empty() : Optional.of(MedianAndRange.of(values));
    }

    /** A metric divided by that of Millrace with the same number of threads; empty if one of them is missing. */
    private Optional<MedianAndRange> ratio(Entry entry, RaceMetric metric) {
        return ratio(entry, new Entry(RacerJvm.MILLRACE, entry.threads), metric);
    }

    private Optional<MedianAndRange> ratio(Entry entry, Entry to, RaceMetric metric) {
        return ratios(entry, to, metric).map(MedianAndRange::of);
    }

    private Optional<List<Double>> ratios(Entry entry, Entry to, RaceMetric metric) {
        List<Map<RaceMetric, Double>> own = runs.getOrDefault(entry, List.of());
        List<Map<RaceMetric, Double>> others = runs.getOrDefault(to, List.of());
        // CPU time without that of the load may be too little to measure.
        if (Stream.concat(own.stream(), others.stream()).anyMatch(run -> run.getOrDefault(metric, 0.0) <= 0)
                || own.isEmpty()
                || others.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(RatioOfPairs.divide(values(own, metric), values(others, metric)));
    }

    private static List<Double> values(List<Map<RaceMetric, Double>> rounds, RaceMetric metric) {
        return rounds.stream().map(round -> round.get(metric)).toList();
    }

    /** A line with one JSON object for each producer and number of threads. */
    String json() {
        return json(Optional.empty());
    }

    /** The same with the name of the case first in each object. */
    String json(EverydayCase everydayCase) {
        return json(Optional.of(everydayCase));
    }

    private String json(Optional<EverydayCase> everydayCase) {
        return runs.keySet().stream()
                .map(entry -> json(everydayCase, entry) + "\n")
                .collect(Collectors.joining());
    }

    private String json(Optional<EverydayCase> everydayCase, Entry entry) {
        StringJoiner members = new StringJoiner(", ", "{", "}");
        everydayCase.ifPresent(named -> members.add("\"case\": \"" + named.caseName() + "\""));
        members.add("\"producer\": \"" + entry.producer + "\"");
        members.add("\"threads\": " + entry.threads);
        for (RaceMetric metric : RaceMetric.values()) {
            spread(entry, metric).ifPresent(spread -> members.add(member(metric.json(), spread.median())));
        }
        spread(entry, RaceMetric.RECORDS_PER_S).ifPresent(spread -> {
            members.add(member("records_per_s_min", spread.min()));
            members.add(member("records_per_s_max", spread.max()));
        });
        ratio(entry, RaceMetric.OWN_CPU_NS_PER_RECORD)
                .ifPresent(ratio -> members.add(member("own_cpu_ratio_to_millrace", ratio.median())));
        ratio(entry, RaceMetric.RECORDS_PER_S).ifPresent(ratio -> {
            members.add(member("ratio_to_millrace", ratio.median()));
            members.add(member("ratio_min", ratio.min()));
            members.add(member("ratio_max", ratio.max()));
        });
        if (hasIntervals() && !entry.producer.equals(RacerJvm.MILLRACE)) {
            COMPARED.forEach(metric -> ratioOfMillraceTo(entry, metric).ifPresent(ratio -> {
                String name = "millrace_" + metric.json() + "_ratio";
                members.add(member(name, ratio.median()));
                members.add(member(name + "_low", ratio.low()));
                members.add(member(name + "_high", ratio.high()));
                members.add(member(name + "_worst_tenth", ratio.worstTenth()));
            }));
        }
        return members.toString();
    }

    private static String member(String name, double value) {
        return String.format(Locale.ROOT, "\"%s\": %.3f", name, value);
    }

    /** What was run and how, then a line for each producer and number of threads. */
    String table() {
        Set<RaceMetric> measured = EnumSet.noneOf(RaceMetric.class);
        runs.values().forEach(rounds -> rounds.forEach(metrics -> measured.addAll(metrics.keySet())));
        List<Column> columns = new ArrayList<>();
        columns.add(new Column("producer", Entry::producer));
        columns.add(new Column("threads", entry -> Integer.toString(entry.threads)));
        for (RaceMetric metric : measured) {
            columns.add(new Column(
                    metric.heading(),
                    entry -> spread(entry, metric)
                            .map(spread -> metric.show(spread.median()))
                            .orElse("–")));
            if (metric == RaceMetric.RECORDS_PER_S) {
                columns.add(new Column(
                        "min..max",
                        entry -> spread(entry, metric)
                                .map(spread -> metric.show(spread.min()) + ".." + metric.show(spread.max()))
                                .orElse("–")));
            }
        }
        // At a rate all send the same number of records; what differs is their CPU time.
        boolean atRate = measured.contains(RaceMetric.OWN_CPU_NS_PER_RECORD);
        RaceMetric compared = atRate ? RaceMetric.OWN_CPU_NS_PER_RECORD : RaceMetric.RECORDS_PER_S;
        if (!hasIntervals()
                && runs.keySet().stream()
                        .anyMatch(entry -> ratio(entry, compared).isPresent())) {
            columns.add(new Column(
                    atRate ? "own CPU × millrace" : "× millrace",
                    entry -> ratio(entry, compared)
                            .map(ratio -> String.format(
                                    Locale.ROOT, "%.2f (%.2f..%.2f)", ratio.median(), ratio.min(), ratio.max()))
                            .orElse("–")));
        }
        return description + "\nJVM: " + String.join(" ", RacerJvm.OPTIONS) + "\n\n" + table(columns, runs.keySet())
                + (hasIntervals() ? ratioTable(measured) : "");
    }

    private static String table(List<Column> columns, Collection<Entry> entries) {
        List<List<String>> cells = new ArrayList<>();
        cells.add(columns.stream().map(Column::heading).toList());
        entries.stream()
                .sorted(Comparator.comparingInt(Entry::threads))
                .forEach(entry -> cells.add(
                        columns.stream().map(column -> column.cell.apply(entry)).toList()));
        return String.join("\n", new Table(cells, 1).plain()) + "\n";
    }

    /** Whether there are so many rounds that ratios have intervals. */
    private boolean hasIntervals() {
        return runs.values().stream().allMatch(rounds -> rounds.size() >= RatioOfPairs.FEWEST);
    }

    /** What Millrace measured, divided by what each other producer did, and what else used the machine. */
    private String ratioTable(Set<RaceMetric> measured) {
        List<Column> columns = new ArrayList<>();
        columns.add(new Column("millrace /", Entry::producer));
        columns.add(new Column("threads", entry -> Integer.toString(entry.threads)));
        for (RaceMetric metric : COMPARED) {
            if (measured.contains(metric)) {
                columns.add(new Column(
                        metric.wholeHeading(),
                        entry -> ratioOfMillraceTo(entry, metric)
                                .map(RatioOfPairs::toString)
                                .orElse("–")));
            }
        }
        List<Entry> others = runs.keySet().stream()
                .filter(entry -> !entry.producer.equals(RacerJvm.MILLRACE))
                .toList();
        String most = Stream.of(RaceMetric.OTHERS_PERCENT, RaceMetric.STEAL_PERCENT, RaceMetric.COMPILER_MS)
                .filter(measured::contains)
                .map(metric -> metric.heading() + " " + metric.show(most(metric)))
                .collect(Collectors.joining(", "));
        return "\n" + table(columns, others)
                + "\nRatios: median (95 % interval of the median; worst tenth of the rounds). All "
                + runs.values().iterator().next().size() + " rounds count."
                + (most.isEmpty() ? "" : " The most in a round: " + most + ".") + "\n";
    }

    private double most(RaceMetric metric) {
        return runs.values().stream()
                .flatMap(List::stream)
                .mapToDouble(round -> round.getOrDefault(metric, 0.0))
                .max()
                .orElse(0);
    }

    private Optional<RatioOfPairs> ratioOfMillraceTo(Entry other, RaceMetric metric) {
        return ratios(new Entry(RacerJvm.MILLRACE, other.threads), other, metric)
                .map(ratios -> RatioOfPairs.of(ratios, metric.isMoreBetter()));
    }

    private record Column(String heading, Function<Entry, String> cell) {}
}
