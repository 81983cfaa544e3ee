package dev.millrace.mirror;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code mirror run}: mirrors topics until it is stopped. */
@Command(
        name = "run",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        usageHelpAutoWidth = true,
        description = {
            "Mirrors topics from one cluster to another until it is stopped.",
            "Each record keeps its partition, key, value, headers and timestamp. At least once: offsets are committed"
                    + " to the source only when the target has acknowledged the records before them."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:stopped by SIGTERM or SIGINT, all that was read is written and committed",
            "1:a cluster does not answer, no topic matches, or a record could not be written",
            "2:the command line or a file it names is wrong: an option, a setting, a port, a host that does not exist"
        })
final class RunCommand implements Callable<Integer> {
    private static final Duration TERMINAL_STATUS = Duration.ofSeconds(1);
    private static final Duration LOG_STATUS = Duration.ofSeconds(30);

    @Option(
            names = "--source",
            paramLabel = "HOST:PORT",
            order = 1,
            description = "Cluster to read from. Default: bootstrap.servers of --consumer.config.")
    private String source;

    @Option(
            names = "--target",
            paramLabel = "HOST:PORT",
            order = 2,
            description = "Cluster to write to. Default: bootstrap.servers of --producer.config.")
    private String target;

    @Option(
            names = "--topics",
            paramLabel = "REGEX",
            required = true,
            order = 3,
            description = "Topics whose whole name matches this Java regular expression, or one of several with commas"
                    + " between them. Internal topics (__*) never do. Missing ones are created on the target, with the"
                    + " settings of the source.")
    private String topics;

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "1",
            order = 4,
            description = "Consumer threads; they share one producer. Default: ${DEFAULT-VALUE}.")
    private int threads;

    @Option(
            names = "--group",
            paramLabel = "GROUP",
            order = 5,
            description =
                    "Consumer group. Default: group.id of --consumer.config, or millrace-mirror-ID, where ID is the"
                            + " cluster id of the target.")
    private String group;

    @Option(
            names = "--consumer.config",
            paramLabel = "FILE",
            order = 6,
            description = "Properties file for the consumers.")
    private Path consumerConfig;

    @Option(
            names = "--producer.config",
            paramLabel = "FILE",
            order = 7,
            description = "Properties file for the producer.")
    private Path producerConfig;

    @Option(
            names = "--producer",
            paramLabel = "millrace|stock",
            converter = ProducerKind.Parser.class,
            defaultValue = "millrace",
            order = 8,
            description = "Producer to write with: Millrace's, or that of kafka-clients, to compare."
                    + " Default: ${DEFAULT-VALUE}.")
    private ProducerKind kind;

    @Option(
            names = "--status",
            paramLabel = "SECONDS",
            order = 9,
            description = "Time between two lines that tell how far the mirror is; on a terminal the line is rewritten."
                    + " 0: no such lines. Default: 1 on a terminal, else 30.")
    private Integer status;

    @Option(
            names = "--verbose",
            order = 10,
            description = "Log what the Kafka clients do, each time they do it, and stack traces.")
    private boolean verbose;

    private final Consumer<Runnable> onSignal;

    /**
     * @param onSignal takes what is to run when the process is told to end
     */
    RunCommand(Consumer<Runnable> onSignal) {
        this.onSignal = onSignal;
    }

    @Override
    public Integer call() {
        if (verbose) {
            Logs.verbose();
        } else {
            Logs.terse();
        }
        MirrorConfig config = config();
        ClientCheck.checkConsumer(config.consumer(), consumerConfig, source);
        ClientCheck.checkProducer(config.producer(), kind, producerConfig, target);
        Mirror mirror = new Mirror(config, new ProgressReport(config, System.err, statusInterval()));
        onSignal.accept(mirror::stop);
        mirror.run();
        return 0;
    }

    /**
     * What the options ask for.
     *
     * @throws MirrorException naming the option that is wrong
     */
    MirrorConfig config() {
        if (threads < 1) {
            throw MirrorException.usage("--threads " + threads + ": at least 1 is needed");
        }
        if (status != null && status < 0) {
            throw MirrorException.usage(
                    "--status " + status + ": a number of seconds is expected, or 0 for no status lines");
        }
        return new MirrorConfig(
                TopicPattern.parse(topics),
                threads,
                kind,
                ClientConfigs.consumer(consumerConfig, source, group),
                ClientConfigs.producer(producerConfig, target));
    }

    private Duration statusInterval() {
        if (status != null) {
            return Duration.ofSeconds(status);
        }
        return Terminal.isTerminal() ? TERMINAL_STATUS : LOG_STATUS;
    }
}
