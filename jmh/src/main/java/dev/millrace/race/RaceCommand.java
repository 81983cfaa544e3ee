package dev.millrace.race;

import static dev.millrace.command.CommandLines.checkOneOf;

import dev.millrace.command.CommandLines;
import dev.millrace.command.ThreadsOption;
import dev.millrace.testkit.figures.RatioOfPairs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command {@code jmh/race}: its options, their checks, and what they mean for a racer. */
@Command(
        name = "race",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpAutoWidth = true,
        description = {
            "Compares whole producers. Each runs in a process of its own, one after the other in turn, against a broker in"
                    + " another process that only acknowledges.",
            "A run is measured from the barrier on which its threads start until flush() returns; every record must have"
                    + " arrived. The table shows medians over the rounds; a ratio is calculated within a round. From "
                    + RatioOfPairs.FEWEST
                    + " rounds on it is shown as: median (95 %% interval of the median; what a tenth of"
                    + " the rounds is at most, or at least if less is better). Without"
                    + " --rate one send in 16 is timed, at random, because reading the clock costs throughput. With --rate"
                    + " every send is timed, from when it should have started if an earlier send blocked its thread."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all runs succeeded",
            "1:a producer failed, or refused or lost a record",
            "2:the command line is wrong"
        })
public final class RaceCommand implements Callable<Integer> {
    /** The largest record that a broker accepts by default, minus what a record needs besides its value. */
    private static final int MAX_VALUE_BYTES = 1_000_000;

    @Spec
    private CommandSpec spec;

    @Mixin
    private RacersOptions racers;

    @Mixin
    private ThreadsOption threads;

    @Mixin
    private LengthOptions length;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "3",
            description = "How often each producer runs. Default: ${DEFAULT-VALUE}.")
    private int rounds;

    @Option(
            names = "--paired",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Instead of --rounds: the producers run side by side, each with brokers of its own, and send in turns of"
                            + " a second (or --seconds, or --records), N each, while the others rest. Ratios are taken between"
                            + " turns of the same round. No turn is left out.")
    private int paired;

    @Option(
            names = "--size",
            paramLabel = "BYTES",
            defaultValue = "100",
            description = "Size of a value, half of which is random. Default: ${DEFAULT-VALUE}.")
    private int size;

    @Option(
            names = "--partitions",
            paramLabel = "N",
            defaultValue = "32",
            description = "Partitions of the topic. Default: ${DEFAULT-VALUE}.")
    private int partitions;

    @Option(
            names = "--keys",
            description = "Each record has a key of 16 bytes, from which the producer chooses the partition."
                    + " Default: no key; each record names its partition, all partitions in turn.")
    private boolean keys;

    @Option(
            names = "--unkeyed",
            description = "No key and no partition: the producer chooses one and keeps it for a batch.")
    private boolean unkeyed;

    @Option(
            names = "--own",
            description =
                    "Each thread sends to partitions of its own, as in a mirror that keeps partitions. Default: all threads"
                            + " send to all partitions.")
    private boolean own;

    @Mixin
    private ProducerOptions settings;

    @Option(
            names = "--rate",
            paramLabel = "N",
            defaultValue = "0",
            description = "Records per second of all threads together. Default: as fast as possible.")
    private long rate;

    @Option(
            names = "--callbacks",
            description = "Every send has a callback. Default: one in 1000; with --rate 10000 a second.")
    private boolean callbacks;

    @Option(
            names = "--new-callbacks",
            description = "Every send has a callback object of its own; with --callbacks all of a run have the same.")
    private boolean newCallbacks;

    @Mixin
    private BrokerOptions brokers;

    @Option(
            names = "--syscalls",
            description =
                    "Counts system calls and clock reads per 1,000 records after the warm-up, instead of speed. Needs perf"
                            + " with the kernel's tracepoints, or else strace, and a C compiler for the clock reads. Skips"
                            + " what it cannot count.")
    private boolean syscalls;

    @Option(
            names = "--first-record",
            description = "Each run starts a JVM without options that makes a producer, sends one record, waits for its"
                    + " acknowledgement and closes. A round has " + FirstRecord.STARTS_PER_ROUND + " runs.")
    private boolean firstRecord;

    @Mixin
    private EverydayOption everyday;

    @Option(names = "--json", description = "Prints a line of JSON for each producer instead of the table.")
    private boolean json;

    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        return CommandLines.of(new RaceCommand(), Map.of(), e -> e instanceof RaceException ? e.getMessage() : null);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        checkOptions();
        if (everyday.isGiven()) {
            everyday.run(json);
            return ExitCode.OK;
        }
        if (syscalls && !canCountSystemCalls()) {
            return ExitCode.OK;
        }
        RaceResults results = race();
        System.out.print(json ? results.json() : results.table());
        return ExitCode.OK;
    }

    /**
     * Runs all producers with the options, which have been checked. Blocks for minutes.
     *
     * @throws ParameterException if a producer is unknown
     * @throws RaceException if a racer fails, with its output
     */
    RaceResults race() {
        List<RacerProgram> programs = buildRacers();
        if (programs.isEmpty()) {
            throw new RaceException("no producer is left to race");
        }
        return paired > 0
                ? new PairedRace(this, programs, System.err).run()
                : new Race(this, programs, System.err).run();
    }

    private boolean canCountSystemCalls() throws IOException, InterruptedException {
        if (!PerfStat.isUsable()) {
            if (!Strace.isInstalled()) {
                notice("--syscalls skipped: neither perf, with the kernel's tracepoints, nor strace can be used");
                return false;
            }
            notice(
                    "perf cannot be used: counting with strace, which slows the producers and makes them wait more often");
        }
        if (!SystemCallCounter.isOnPath("cc")) {
            notice("clock reads skipped: there is no C compiler (cc)");
        }
        return true;
    }

    private void notice(String text) {
        spec.commandLine().getErr().println("race: " + text);
    }

    /** @throws ParameterException if an option is wrong */
    void checkOptions() {
        racers.check();
        threads.check();
        length.checkOptions();
        settings.checkOptions();
        check(rounds >= 1, "--rounds " + rounds + ": at least 1 is needed");
        check(paired >= 1 || !isGiven("--paired"), "--paired " + paired + ": at least 1 is needed");
        check(!isGiven("--paired") || !isGiven("--rounds"), "--paired and --rounds exclude each other");
        check(
                size >= 0 && size <= MAX_VALUE_BYTES,
                "--size " + size + ": from 0 to " + MAX_VALUE_BYTES + " is possible");
        check(partitions >= 1, "--partitions " + partitions + ": at least 1 is needed");
        check(rate >= 0, "--rate " + rate + ": at least 0 is needed");
        check(
                Stream.of(keys, unkeyed, own).filter(given -> given).count() <= 1,
                "--keys, --unkeyed and --own exclude each other");
        threads.numbers()
                .forEach(n -> check(
                        !own || partitions % n == 0,
                        "--own: --partitions " + partitions + " is no multiple of --threads " + n));
        brokers.checkOptions();
        check(
                Stream.of(rate > 0, syscalls, firstRecord)
                                .filter(given -> given)
                                .count()
                        <= 1,
                "--rate, --syscalls and --first-record exclude each other");
        check(
                Stream.of(paired > 0, syscalls, firstRecord)
                                .filter(given -> given)
                                .count()
                        <= 1,
                "--paired, --syscalls and --first-record exclude each other");
        check(
                !syscalls || length.seconds() == 0,
                "--syscalls and --seconds exclude each other: the end reads the clock");
    }

    /** @throws ParameterException if an option is wrong or makes no sense for an everyday case */
    void checkForEveryday() {
        checkOptions();
        threads.single();
        check(!syscalls, "--syscalls: the table has no system calls");
    }

    /** @throws ParameterException if an option is wrong or makes no sense for a profile, or a producer is not a JVM */
    void checkForProfile() {
        check(length.seconds() == 0, "--seconds: only race can do that");
        checkOptions();
        check(!syscalls, "--syscalls: only race can do that");
        check(!json, "--json: only race can do that");
        check(!firstRecord, "--first-record: only race can do that");
        check(paired == 0, "--paired: only race can do that");
        check(!everyday.isGiven(), "--everyday: only race can do that");
        checkProducers(RacerJvm.names());
    }

    /** The racers; only for a profile, whose racers are all JVMs. */
    List<RacerJvm> jvms() {
        return racers.producers().stream().map(RacerJvm::named).toList();
    }

    /**
     * The racers, those in other languages compiled. Prints a notice for each that cannot race here.
     *
     * @throws ParameterException if a producer is unknown
     */
    private List<RacerProgram> buildRacers() {
        Path sources = RacerJvm.nonJavaSources();
        List<String> peers = NonJavaRacer.names(sources);
        checkProducers(Stream.concat(RacerJvm.names().stream(), peers.stream()).toList());
        List<RacerProgram> programs = new ArrayList<>();
        for (String name : racers.producers()) {
            if (!peers.contains(name)) {
                programs.add(RacerJvm.named(name));
            } else if (!onlyForJvms().isEmpty()) {
                notice(name + " skipped: it does not race with " + onlyForJvms());
            } else {
                NonJavaRacer.build(name, sources, RacerJvm.nonJavaPrograms(), this::notice)
                        .ifPresent(programs::add);
            }
        }
        return programs;
    }

    /** An option that is given and that a racer in another language does not have; empty if there is none. */
    private String onlyForJvms() {
        if (brokers.tls()) {
            return "--tls";
        }
        if (rate > 0) {
            return "--rate";
        }
        if (firstRecord) {
            return "--first-record";
        }
        return syscalls ? "--syscalls" : "";
    }

    private void checkProducers(List<String> known) {
        racers.producers().forEach(name -> checkOneOf(spec, "--producers", name, known.toArray(String[]::new)));
    }

    private boolean isGiven(String option) {
        return spec.commandLine().getParseResult().hasMatchedOption(option);
    }

    private void check(boolean right, String message) {
        CommandLines.check(spec, right, message);
    }

    List<Integer> threads() {
        return threads.numbers();
    }

    int rounds() {
        return firstRecord ? rounds * FirstRecord.STARTS_PER_ROUND : rounds;
    }

    /** How many turns each producer has beside the others; 0 if they run one after the other. */
    int paired() {
        return paired;
    }

    int partitions() {
        return partitions;
    }

    long records() {
        return racers.records();
    }

    long rate() {
        return rate;
    }

    EverydayOption everyday() {
        return everyday;
    }

    boolean isFirstRecord() {
        return firstRecord;
    }

    boolean isTraced() {
        return syscalls;
    }

    /** C source of the library for {@link ClockReadCounter}. */
    Path clockSource() {
        return RacerJvm.clockReadsSource();
    }

    RaceBrokers startBrokers() {
        return brokers.start(partitions);
    }

    /** The arguments of a racer, without the address of the brokers. */
    RacerArguments racerArguments(String name, int threadCount) {
        RacerArguments arguments = new RacerArguments()
                .set("threads", threadCount)
                .set("records", racers.records())
                .set("size", size)
                .set("partitions", partitions)
                .set("step", own ? threadCount : 1)
                .set("partition_choice", keys ? "key" : unkeyed ? "sticky" : "partition")
                .set("rate", rate)
                .set("turns", paired)
                .set("callbacks", callbacks || newCallbacks)
                .set("new_callbacks", newCallbacks)
                .set("check_arrivals", !name.equals(RacerJvm.LOAD.name()));
        length.addTo(arguments, syscalls);
        settings.addTo(arguments, name);
        return arguments;
    }

    /** The first line of the table: what is the same for all racers. */
    String describe() {
        List<String> parts = new ArrayList<>();
        parts.add(String.format(Locale.ROOT, "%s of %,d bytes", describeLength(), size));
        parts.add((keys ? "with keys " : unkeyed ? "without keys " : "") + "to " + partitions
                + (own ? " partitions, each thread to its own" : " partitions"));
        parts.addAll(settings.describe());
        if (rate > 0) {
            parts.add(String.format(Locale.ROOT, "%,d records/s", rate));
        }
        if (callbacks || newCallbacks) {
            parts.add(newCallbacks ? "a new callback for each" : "callbacks");
        }
        parts.add(brokers.describe());
        parts.add(paired > 0 ? paired + " turns side by side" : rounds + (rounds == 1 ? " round" : " rounds"));
        return String.join(", ", parts);
    }

    private String describeLength() {
        if (firstRecord) {
            return "one record";
        }
        return length.seconds() > 0
                ? length.seconds() + " s, records"
                : String.format(Locale.ROOT, "%,d records", racers.records());
    }
}
