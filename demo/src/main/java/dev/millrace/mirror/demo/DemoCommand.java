package dev.millrace.mirror.demo;

import dev.millrace.mirror.cli.AddedCommand;
import dev.millrace.mirror.cli.Logs;
import dev.millrace.mirror.cli.OptionValues;
import dev.millrace.mirror.cli.StandardOptions;
import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.testkit.figures.RatioOfPairs;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code mirror demo}: starts two clusters, mirrors a topic between them, and shows the figures. */
@Command(
        name = "demo",
        description = {
            "Starts two Kafka clusters, fills a topic of 32 partitions, and mirrors it with the stock producer and with"
                    + " Millrace's in several modes, by one thread and by many.",
            "Ends with a table of what was measured, and leaves no files except the report of --curve."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:every target equalled the source, record by record (those of MirrorMaker 1: had every record once)",
            "1:a target did not, or something failed",
            "2:the command line is wrong, or the report cannot be written to that file"
        })
public final class DemoCommand implements AddedCommand {
    /** The number of a record fits into so many bytes. */
    private static final int MIN_SIZE = 20;
    /** What a broker accepts by default, minus the overhead of a record. */
    private static final int MAX_SIZE = 1_000_000;

    private static final List<String> CODECS = List.of("none", "gzip", "snappy", "lz4", "zstd");
    private static final int CURVE_ROUNDS = 3;
    private static final List<CopyMode> DEFAULT_MODES = List.of(CopyMode.CONSUMER, CopyMode.AUTO);
    private static final String DEFAULT_REPORT = "mirror-curve.html";

    @Mixin
    @SuppressWarnings("unused") // Its annotation is what counts.
    private StandardOptions standard;

    @Option(
            names = "--records",
            paramLabel = "N",
            order = 1,
            defaultValue = "2000000",
            description = "Records to mirror. Default: ${DEFAULT-VALUE}.")
    private long records;

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "32",
            order = 2,
            description = "Largest number of consumer threads. Default: ${DEFAULT-VALUE}.")
    private int threads;

    @Option(
            names = "--size",
            paramLabel = "BYTES",
            order = 3,
            defaultValue = "100",
            description = "Size of a record's value. Default: ${DEFAULT-VALUE}.")
    private int size;

    @Option(
            names = "--producers",
            paramLabel = "NAME",
            split = ",",
            converter = ContenderName.Parser.class,
            defaultValue = "stock,millrace",
            order = 4,
            description =
                    "What to compare: stock and millrace are this mirror with either producer; millrace-exactly-once is"
                            + " its mode auto with --resume exactly-once; replay passes batches that are in memory already;"
                            + " mirrormaker1 and"
                            + " mirrormaker1-tuned are MirrorMaker 1 of Kafka 3.9.1 with its own settings and with this"
                            + " mirror's; mirrormaker2 is MirrorMaker 2 of Kafka 4.3.1, which runs once a round, with up to 4 tasks"
                            + " (Maven downloads them). Default: ${DEFAULT-VALUE}.")
    private List<ContenderName> producers;

    @Option(
            names = "--mode",
            paramLabel = "MODE",
            split = ",",
            converter = ModeParser.class,
            order = 5,
            description = "Modes in which millrace runs, each by itself: consumer, auto, records, batches, as of mirror"
                    + " run. Default: consumer,auto.")
    private List<CopyMode> modes;

    @Option(
            names = "--compression",
            paramLabel = "TYPE",
            order = 6,
            defaultValue = "snappy",
            description = "none, gzip, snappy, lz4 or zstd: of the source's records, and of all producers. Default:"
                    + " ${DEFAULT-VALUE}.")
    private String compression;

    @Option(
            names = "--batch-records",
            paramLabel = "N",
            order = 7,
            description = "Records in each batch of the source. Default: what fits into 128 KB.")
    private Integer batchRecords;

    @Option(
            names = "--idle-partitions",
            paramLabel = "N",
            order = 8,
            defaultValue = "0",
            description = "Mirror a topic of so many partitions beside it, in which nothing happens. Not with"
                    + " MirrorMaker. Default: ${DEFAULT-VALUE}.")
    private int idlePartitions;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            order = 9,
            description =
                    "How often to run each, in turn; the figures are medians. From " + RatioOfPairs.FEWEST
                            + " rounds on, also the ratios to the first producer, with intervals. Default: 1, or 3 with --curve.")
    private Integer rounds;

    @Option(
            names = "--curve",
            order = 10,
            description =
                    "Mirror with 1, 2, 4 and so on up to --threads threads, and draw the speed of each as a curve.")
    private boolean curve;

    @Option(
            names = "--report",
            paramLabel = "FILE",
            order = 11,
            description = "HTML file for the curves, with their picture beside it as .svg. Default: " + DEFAULT_REPORT
                    + " in the current folder.")
    private Path report;

    @Option(
            names = "--json",
            order = 12,
            description =
                    "Print a JSON object for each run, in a line of its own, when the run has ended. The table then"
                            + " goes to the standard error output.")
    private boolean json;

    /** Converts names; the errors of picocli's own converter would name the Java constants. */
    static final class ModeParser implements ITypeConverter<CopyMode> {
        @Override
        public CopyMode convert(String text) {
            return OptionValues.parse(CopyMode.values(), text);
        }
    }

    @Override
    public Integer call() {
        Logs.configureTerse();
        DemoPlan plan = plan();
        if (report != null && !curve) {
            throw MirrorException.usage("--report " + report + ": only --curve writes one");
        }
        Optional<CurveReport> curveReport = curve
                ? Optional.of(CurveReport.at(report == null ? Path.of(DEFAULT_REPORT) : report))
                : Optional.empty();
        PrintStream words = json ? System.err : System.out;
        List<DemoRow> runs = new Demo(plan, System.err, this::printJson).run();
        List<DemoRow> rows = DemoRow.medians(plan, runs);
        String table = curve ? new CurveTable(plan, rows).format() : DemoTable.format(rows);
        if (plan.rounds() >= RatioOfPairs.FEWEST) {
            table += DemoRatios.format(plan, runs);
        }
        words.printf("%n%s:%n%n%s%n%s", plan.load().describe(), table, plan.describeMethod());
        curveReport.ifPresent(files -> files.write(plan, rows).forEach(file -> words.println("Wrote " + file)));
        return rows.stream().allMatch(DemoRow::isRight) ? 0 : 1;
    }

    private void printJson(DemoRow run) {
        if (json) {
            System.out.println(DemoJson.format(run));
        }
    }

    /**
     * The plan that these options describe.
     *
     * @throws MirrorException naming the option that is wrong
     */
    private DemoPlan plan() {
        OptionValues.requirePositive("--records", records);
        OptionValues.requirePositive("--threads", threads);
        if (size < MIN_SIZE || size > MAX_SIZE) {
            throw MirrorException.usage("--size " + size + ": from " + MIN_SIZE + " to " + MAX_SIZE + " is possible");
        }
        requireOnce("--producers", producers);
        int repeats = rounds != null ? rounds : curve ? CURVE_ROUNDS : 1;
        OptionValues.requirePositive("--rounds", repeats);
        return new DemoPlan(
                new DemoLoad(records, size, compression(), batchRecords(), idlePartitions()),
                curve ? DemoPlan.doublings(threads) : DemoPlan.oneAndMost(threads),
                contenders(),
                repeats);
    }

    private String compression() {
        if (!CODECS.contains(compression)) {
            throw MirrorException.usage("--compression " + compression + ": possible are " + String.join(", ", CODECS));
        }
        return compression;
    }

    private OptionalInt batchRecords() {
        if (batchRecords == null) {
            return OptionalInt.empty();
        }
        OptionValues.requirePositive("--batch-records", batchRecords);
        int most = MAX_SIZE / size;
        if (batchRecords > most) {
            throw MirrorException.usage("--batch-records " + batchRecords + ": a batch takes at most " + most
                    + " records of " + size + " bytes");
        }
        return OptionalInt.of(batchRecords);
    }

    private int idlePartitions() {
        if (idlePartitions < 0) {
            throw MirrorException.usage("--idle-partitions " + idlePartitions + ": must be 0 or more");
        }
        if (idlePartitions > 0 && contenders().stream().anyMatch(Contender::isMirrorMaker)) {
            throw MirrorException.usage("--idle-partitions: is for stock and millrace only");
        }
        return idlePartitions;
    }

    private List<Contender> contenders() {
        if (modes != null) {
            requireOnce("--mode", modes);
            if (!producers.contains(ContenderName.MILLRACE)) {
                throw MirrorException.usage("--mode: only millrace runs in several modes, and --producers lacks it");
            }
        }
        List<CopyMode> wanted = modes == null ? DEFAULT_MODES : modes;
        return producers.stream()
                .flatMap(name -> name.contenders(wanted).stream())
                .toList();
    }

    private static void requireOnce(String option, List<?> values) {
        if (new HashSet<>(values).size() < values.size()) {
            throw MirrorException.usage(option + ": each can be given once");
        }
    }
}
