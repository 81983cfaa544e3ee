package dev.millrace.race;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The {@code race} command: its options, and what is wrong with them in one line. */
@Command(
        name = "race",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpAutoWidth = true,
        description = {
            "Runs whole producers side by side, each in a process of its own, one after another in turn, against a broker that"
                    + " only acknowledges, in another process.",
            "A run is measured from the barrier on which its threads start until flush() returns; every record must have"
                    + " arrived. The table shows medians over the rounds; a ratio is taken within a round. Without --rate"
                    + " one send in 16 is timed, at random, to keep the clock out of the throughput; with --rate every one"
                    + " is, from the moment it should have started if an earlier send held its thread up."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all runs went well",
            "1:a producer failed, or refused or lost a record",
            "2:the command line is wrong"
        })
public final class RaceCommand implements Callable<Integer> {
    private static final long WARM_UP_RECORDS = 1_000_000;

    /**
     * How long the JVM's compiler needs until it is nearly done, on two cores that 32 threads want too. After 8 s its CPU was
     * a tenth of what a record seemed to cost the quickest producer.
     */
    private static final long WARM_UP_MILLIS = 20_000;

    /** What a broker takes by default, less what a record needs around its value. */
    private static final int MAX_VALUE_BYTES = 1_000_000;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--producers",
            split = ",",
            paramLabel = "NAME",
            defaultValue = "millrace,kafka-4.3.1,kafka-4.4.0",
            description =
                    "Who races: millrace, kafka-VERSION, and if what they need is there, franz-go (Go) and librdkafka (C),"
                            + " which know no --tls, --rate and --syscalls. Default: ${DEFAULT-VALUE}.")
    private List<String> producers;

    @Option(
            names = "--threads",
            split = ",",
            paramLabel = "N",
            defaultValue = "32",
            description = "Threads that share the producer; several numbers make a curve. Default: ${DEFAULT-VALUE}.")
    private List<Integer> threads;

    @Option(
            names = "--records",
            paramLabel = "N",
            defaultValue = "5000000",
            description = "Records of all threads together. Default: ${DEFAULT-VALUE}.")
    private long records;

    @Option(
            names = "--warmup",
            paramLabel = "N",
            description = "Records sent before. Default: 1000000, again and again for 20 seconds.")
    private Long warmup;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "3",
            description = "How often each producer runs. Default: ${DEFAULT-VALUE}.")
    private int rounds;

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
            description = "Records have a key of 16 bytes, by which the producer chooses the partition."
                    + " Default: no key, and each thread names the partitions in turn.")
    private boolean keys;

    @Option(names = "--unkeyed", description = "Neither key nor partition: the producer chooses, and sticks to it.")
    private boolean unkeyed;

    @Option(
            names = "--own",
            description =
                    "Each thread names partitions of its own, as in a mirror that keeps partitions. Default: all threads"
                            + " name all partitions.")
    private boolean own;

    @Option(
            names = "--compression",
            paramLabel = "TYPE",
            defaultValue = "none",
            description = "none, gzip, snappy, lz4 or zstd. Default: ${DEFAULT-VALUE}.")
    private String compression;

    @Option(
            names = "--acks",
            paramLabel = "ACKS",
            defaultValue = "all",
            description = "all, or 1, which is not idempotent. Default: ${DEFAULT-VALUE}.")
    private String acks;

    @Option(
            names = "--rate",
            paramLabel = "N",
            defaultValue = "0",
            description = "Records a second of all threads together. Default: as fast as it goes.")
    private long rate;

    @Option(names = "--callbacks", description = "Every send has a callback. Default: one in 1000.")
    private boolean callbacks;

    @Option(names = "--io-threads", paramLabel = "N", description = "millrace.io.threads, of Millrace only.")
    private Integer ioThreads;

    @Option(
            names = "--brokers",
            paramLabel = "KIND",
            defaultValue = "stub",
            description = "stub, or real: a Kafka broker that stores what it gets. Default: ${DEFAULT-VALUE}.")
    private String brokers;

    @Option(names = "--tls", description = "Connections are encrypted.")
    private boolean tls;

    @Option(
            names = "--syscalls",
            description =
                    "Instead of speed, counts system calls and clock reads per 1,000 records after the warm-up. Needs"
                            + " perf with the kernel's tracepoints, or else strace, and a C compiler for the clock reads;"
                            + " what is missing is skipped.")
    private boolean syscalls;

    @Option(names = "--json", description = "Prints a JSON object a line for each producer instead of the table.")
    private boolean json;

    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        return new CommandLine(new RaceCommand())
                .setParameterExceptionHandler(RaceCommand::explainUsage)
                .setExecutionExceptionHandler(RaceCommand::explainFailure);
    }

    private static int explainUsage(ParameterException e, String[] arguments) {
        e.getCommandLine().getErr().println("race: " + e.getMessage() + " (see race --help)");
        return ExitCode.USAGE;
    }

    private static int explainFailure(Exception e, CommandLine command, CommandLine.ParseResult parsed)
            throws Exception {
        if (!(e instanceof RaceException)) {
            throw e;
        }
        command.getErr().println("race: " + e.getMessage());
        return ExitCode.SOFTWARE;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        checkOptions();
        if (syscalls && !canCountSystemCalls()) {
            return ExitCode.OK;
        }
        List<RacerProgram> racers = racers();
        if (racers.isEmpty()) {
            throw new RaceException("nobody is left to race");
        }
        RaceResults results = new Race(this, racers, System.err).run();
        System.out.print(json ? results.json() : results.table());
        return ExitCode.OK;
    }

    private boolean canCountSystemCalls() throws IOException, InterruptedException {
        if (!PerfStat.isUsable()) {
            if (!Strace.isInstalled()) {
                notice("--syscalls skipped: neither perf, with the kernel's tracepoints, nor strace can be used");
                return false;
            }
            notice("perf cannot be used: strace counts, which slows the producers down and makes them wait more often");
        }
        if (!SystemCallCounter.isOnPath("cc")) {
            notice("clock reads skipped: there is no C compiler (cc)");
        }
        return true;
    }

    private void notice(String text) {
        spec.commandLine().getErr().println("race: " + text);
    }

    /** @throws ParameterException when an option is wrong */
    void checkOptions() {
        threads.forEach(n -> check(n >= 1, "--threads " + n + ": at least 1 is needed"));
        check(records >= 1, "--records " + records + ": at least 1 is needed");
        check(warmup() >= 0, "--warmup " + warmup() + ": at least 0 is needed");
        check(rounds >= 1, "--rounds " + rounds + ": at least 1 is needed");
        check(
                size >= 0 && size <= MAX_VALUE_BYTES,
                "--size " + size + ": from 0 to " + MAX_VALUE_BYTES + " is possible");
        check(partitions >= 1, "--partitions " + partitions + ": at least 1 is needed");
        check(rate >= 0, "--rate " + rate + ": at least 0 is needed");
        check(
                Stream.of(keys, unkeyed, own).filter(given -> given).count() <= 1,
                "--keys, --unkeyed and --own exclude each other");
        threads.forEach(n -> check(
                !own || partitions % n == 0,
                "--own: --partitions " + partitions + " is no multiple of --threads " + n));
        checkOneOf("--compression", compression, "none", "gzip", "snappy", "lz4", "zstd");
        checkOneOf("--acks", acks, "all", "1");
        checkOneOf("--brokers", brokers, "stub", "real");
        check(
                new TreeSet<>(producers).size() == producers.size(),
                "--producers " + String.join(",", producers) + ": one is named twice");

        check(!syscalls || rate == 0, "--syscalls and --rate exclude each other: pacing reads the clock");
    }

    /** @throws ParameterException when an option is wrong, or is about the race and not about its load, or a producer is no JVM */
    void checkForProfile() {
        checkOptions();
        check(!syscalls, "--syscalls: only race can do that");
        check(!json, "--json: only race can do that");
        checkProducers(RacerJvm.names());
    }

    /** Those that race; for a load, which has no others. */
    List<RacerJvm> jvms() {
        return producers.stream().map(RacerJvm::named).toList();
    }

    /**
     * Those that can race, peers built; a notice for each that cannot.
     *
     * @throws ParameterException when one is unknown
     */
    private List<RacerProgram> racers() {
        Path sources = RacerJvm.nonJavaSources();
        List<String> peers = NonJavaRacer.names(sources);
        checkProducers(Stream.concat(RacerJvm.names().stream(), peers.stream()).toList());
        List<RacerProgram> racers = new ArrayList<>();
        for (String name : producers) {
            if (!peers.contains(name)) {
                racers.add(RacerJvm.named(name));
            } else if (tls || rate > 0 || syscalls) {
                notice(name + " skipped: it does not race with "
                        + (tls ? "--tls" : rate > 0 ? "--rate" : "--syscalls"));
            } else {
                NonJavaRacer.build(name, sources, RacerJvm.nonJavaPrograms(), this::notice)
                        .ifPresent(racers::add);
            }
        }
        return racers;
    }

    private void checkProducers(List<String> known) {
        producers.forEach(name -> checkOneOf("--producers", name, known.toArray(String[]::new)));
    }

    private void checkOneOf(String option, String value, String... possible) {
        check(
                List.of(possible).contains(value),
                option + " " + value + ": only " + String.join(", ", possible) + " are possible");
    }

    private void check(boolean right, String message) {
        if (!right) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }

    List<Integer> threads() {
        return threads;
    }

    int rounds() {
        return rounds;
    }

    int partitions() {
        return partitions;
    }

    long records() {
        return records;
    }

    long rate() {
        return rate;
    }

    private long warmup() {
        return warmup == null ? WARM_UP_RECORDS : warmup;
    }

    boolean isTraced() {
        return syscalls;
    }

    /** Of the library for {@link ClockReadCounter}. */
    Path clockSource() {
        return RacerJvm.clockReadsSource();
    }

    RaceBrokers startBrokers() {
        return brokers.equals("real") ? RaceBrokers.real(partitions, tls) : RaceBrokers.stub(partitions, tls);
    }

    /** What a racer is told, but for where the brokers are. */
    RacerArguments racerArguments(String name, int threadCount) {
        RacerArguments arguments = new RacerArguments()
                .set("threads", threadCount)
                .set("records", records)
                .set("warmup", warmup())
                .set("warmup_ms", warmup == null && !syscalls ? WARM_UP_MILLIS : 0)
                .set("size", size)
                .set("partitions", partitions)
                .set("step", own ? threadCount : 1)
                .set("partition_choice", keys ? "key" : unkeyed ? "sticky" : "partition")
                .set("rate", rate)
                .set("callbacks", callbacks)
                .config("linger.ms", 5)
                .config("batch.size", 65_536)
                .config("enable.metrics.push", false)
                .config("acks", acks)
                .config("enable.idempotence", acks.equals("all"))
                .config("compression.type", compression);
        if (ioThreads != null && name.equals(RacerJvm.MILLRACE)) {
            arguments.config("millrace.io.threads", ioThreads);
        }
        return arguments;
    }

    /** The head line of the table: what is the same for all. */
    String describe() {
        return String.join(
                ", ",
                Stream.of(
                                String.format(Locale.ROOT, "%,d records of %,d bytes", records, size),
                                (keys ? "with keys " : unkeyed ? "without keys " : "") + "to " + partitions
                                        + (own ? " partitions, each thread to its own" : " partitions"),
                                compression.equals("none") ? "" : compression,
                                "acks=" + acks,
                                rate > 0 ? String.format(Locale.ROOT, "%,d records/s", rate) : "",
                                callbacks ? "callbacks" : "",
                                ioThreads == null ? "" : "millrace.io.threads=" + ioThreads,
                                brokers + " broker" + (tls ? " with TLS" : ""),
                                rounds + (rounds == 1 ? " round" : " rounds"))
                        .filter(part -> !part.isEmpty())
                        .toList());
    }
}
