package dev.millrace.mirror.cli;

import dev.millrace.mirror.MirrorConfig;
import dev.millrace.mirror.MirrorException;
import dev.millrace.mirror.ProducerKind;
import java.nio.file.Path;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** The options that say what to mirror and how: those of {@code mirror run}, which the demo uses for its runs, too. */
public final class MirrorOptions {
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
            description = "Topics whose whole name matches this Java regular expression, or one of several"
                    + " separated by commas. Internal topics (__*) are never mirrored. Topics that the target lacks are"
                    + " created there with the settings of the source.")
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
            converter = ProducerKindParser.class,
            defaultValue = "millrace",
            order = 8,
            description = "Producer to write with: Millrace's, or that of kafka-clients, to compare."
                    + " Default: ${DEFAULT-VALUE}.")
    private ProducerKind producerKind;

    /** Converts names; the errors of picocli's own converter would name the Java constants. */
    static final class ProducerKindParser implements ITypeConverter<ProducerKind> {
        @Override
        public ProducerKind convert(String text) {
            return OptionValues.parse(ProducerKind.values(), text);
        }
    }

    /**
     * The configuration that these options describe.
     *
     * @throws MirrorException naming the option or the file that is wrong
     */
    public MirrorConfig toConfig() {
        OptionValues.requirePositive("--threads", threads);
        return new MirrorConfig(
                TopicPattern.parse(topics),
                threads,
                producerKind,
                ClientConfigs.consumer(consumerConfig, source, group),
                ClientConfigs.producer(producerConfig, target));
    }

    /**
     * Checks what {@link #toConfig} returned by opening each client once.
     *
     * @throws MirrorException naming the option or the file that is wrong
     */
    void checkClients(MirrorConfig config) {
        ClientCheck.checkConsumer(config.consumer(), consumerConfig, source);
        ClientCheck.checkProducer(config.producer(), producerKind, producerConfig, target);
    }
}
