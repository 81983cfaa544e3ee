package dev.millrace.race;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import picocli.CommandLine.ParseResult;

/** A case that most programs meet, as a named set of the options of {@code jmh/race}. */
enum EverydayCase {
    CALLBACKS("32 threads, full speed, a callback on every record", "--callbacks --seconds=6"),
    YOUNG("32 threads, full speed, callbacks, seconds 4 to 10 of a JVM", "--callbacks --warmup-ms=4000 --seconds=6"),
    RATE_100000("8 threads, 100,000 records/s, callbacks, short warm-up", Rate.SHORT_WARM_UP + "100000"),
    RATE_50000("8 threads, 50,000 records/s, callbacks, short warm-up", Rate.SHORT_WARM_UP + "50000"),
    RATE_10000("8 threads, 10,000 records/s, callbacks, warm", "--threads=8 --rate=10000 --callbacks --seconds=8"),
    RATE_1000("8 threads, 1,000 records/s, callbacks, short warm-up", Rate.SHORT_WARM_UP + "1000"),
    RATE_100("8 threads, 100 records/s, callbacks, short warm-up", Rate.SHORT_WARM_UP + "100"),
    LINGER_0("8 threads, 10,000 records/s, short warm-up, linger.ms=0", Rate.SHORT_WARM_UP + "10000 --linger-ms=0"),
    ONE_PARTITION(
            "8 threads, 10,000 records/s, short warm-up, one partition", Rate.SHORT_WARM_UP + "10000 --partitions=1"),
    RATE_PARTITIONS_1000(
            "8 threads, 10,000 records/s, short warm-up, 1,000 partitions",
            Rate.SHORT_WARM_UP + "10000 --partitions=1000"),
    BROKERS_3(
            "8 threads, 10,000 records/s, short warm-up, three brokers", Rate.SHORT_WARM_UP + "10000 --broker-count=3"),
    FIRST("the first record of a new JVM, default settings", "--first-record --threads=1 --batch-size=16384"),
    DEFAULTS(
            "default settings, 32 threads, full speed, callbacks",
            "--callbacks --batch-size=16384 --warmup-ms=10000 --seconds=6"),
    PARTITIONS_1000(
            "default settings, 1,000 partitions",
            "--callbacks --batch-size=16384 --partitions=1000 --warmup-ms=10000 --seconds=6"),
    KEYS(
            "default settings, partitions chosen by keys of 16 bytes",
            "--callbacks --batch-size=16384 --keys --warmup-ms=10000 --seconds=6"),
    REAL_BROKER(
            "default settings, a real broker",
            "--callbacks --batch-size=16384 --brokers=real --warmup-ms=10000 --seconds=6"),
    VALUES_1K(
            "default settings, values of 1 KB",
            "--callbacks --batch-size=16384 --size=1024 --warmup=100000 --warmup-ms=10000 --records=3000000"),
    VALUES_10K(
            "default settings, values of 10 KB",
            "--callbacks --batch-size=16384 --size=10240 --warmup=10000 --warmup-ms=10000 --records=300000"),
    VALUES_100K(
            "default settings, values of 100 KB",
            "--callbacks --batch-size=16384 --size=102400 --warmup=1000 --warmup-ms=10000 --records=60000");

    /** The options of all cases. */
    private static final String COMMON = "--producers=millrace,kafka-4.4.0 --rounds=1 ";

    /** A class of its own, because the cases cannot use constants that come after them. */
    private static final class Rate {
        static final String SHORT_WARM_UP = "--threads=8 --callbacks --warmup-ms=4000 --seconds=8 --rate=";
    }

    private final String description;
    private final String options;

    EverydayCase(String description, String options) {
        this.description = description;
        this.options = options;
    }

    String description() {
        return description;
    }

    /** Its name on the command line, in the table and in JSON. */
    String caseName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static List<String> names() {
        return Stream.of(values()).map(EverydayCase::caseName).toList();
    }

    /** Whether it needs a new JVM for each run, so that producers cannot run side by side. */
    boolean needsNewJvms() {
        return this == YOUNG || this == FIRST || options.startsWith(Rate.SHORT_WARM_UP);
    }

    /** With a rate, the CPU time of a second is too little to measure. */
    private boolean hasRate() {
        return options.contains("--rate=");
    }

    /** The case with this name, which must be one of {@link #names}. */
    static EverydayCase named(String name) {
        return values()[names().indexOf(name)];
    }

    /** The command line of the case, from that of the race, whose options win over those of the case. */
    String[] commandLine(ParseResult given) {
        List<String> arguments = new ArrayList<>();
        Stream.of((COMMON + options).split(" ", -1))
                .filter(option -> !isReplaced(option.replaceFirst("=.*", ""), given))
                .forEach(arguments::add);
        arguments.addAll(given.originalArgs());
        return arguments.toArray(String[]::new);
    }

    private boolean isReplaced(String option, ParseResult given) {
        return switch (option) {
            case "--seconds", "--records" ->
                Stream.of("--seconds", "--records").anyMatch(given::hasMatchedOption)
                        || (given.hasMatchedOption("--paired") && !hasRate());
            case "--rounds" -> given.hasMatchedOption("--rounds") || given.hasMatchedOption("--paired");
            default -> given.hasMatchedOption(option);
        };
    }
}
