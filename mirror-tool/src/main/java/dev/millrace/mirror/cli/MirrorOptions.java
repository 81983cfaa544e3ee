package dev.millrace.mirror.cli;

import dev.millrace.mirror.config.ByTopic;
import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.config.GapPolicy;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.MirrorPolicies;
import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.config.ResumeMode;
import dev.millrace.mirror.config.SyncPolicy;
import dev.millrace.mirror.config.TargetLossPolicy;
import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.config.TopicPattern;
import dev.millrace.mirror.fetch.ResetPolicy;
import dev.millrace.mirror.progress.MirrorGroup;
import dev.millrace.mirror.text.MirrorException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** The options of {@code mirror run} that say what to mirror and how. The demo uses them for its runs too. */
public final class MirrorOptions {
    /** The consumer's setting has the same name. */
    private static final String INTERCEPTORS = ProducerConfig.INTERCEPTOR_CLASSES_CONFIG;

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
                    + " separated by commas. Internal topics (__*, millrace-offsets.*, millrace-cutover.*, and"
                    + " MirrorMaker 2's mm2*.internal and *.checkpoints.internal) are never mirrored. Topics that the target lacks are created there"
                    + " with the settings of the source.")
    private String topics;

    @Option(
            names = "--exclude-topics",
            paramLabel = "REGEX",
            order = 3,
            description =
                    "Topics that are not mirrored though --topics matches them: those whose whole name matches this"
                            + " regular expression, or one of several separated by commas. Default: none.")
    private String excludedTopics;

    @Option(
            names = "--back",
            order = 3,
            description = "Go from the target to the source: with the options of the mirror that 'mirror cutover"
                    + " --keep-way-back' has ended, copy back what has been written to its copies since then.")
    private boolean isBack;

    @Mixin
    private StartOptions starts = new StartOptions();

    @Mixin
    private TopicNameOptions topicNames = new TopicNameOptions();

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "1",
            order = 4,
            description =
                    "Threads that copy; they share one producer. With --mode consumer each has a consumer of its own,"
                            + " else one fetcher reads for all. Default: ${DEFAULT-VALUE}.")
    private int threads;

    @Option(
            names = "--group",
            paramLabel = "GROUP",
            order = 5,
            description =
                    "Consumer group. Default: group.id of --consumer.config, or millrace-mirror-ID, where ID is the"
                            + " cluster id of the target; with --resume exactly-once it is a group of the target, by"
                            + " default millrace-mirror-from-ID with the cluster id of the source.")
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
            names = "--source-setting",
            paramLabel = "KEY=VALUE",
            order = 7,
            description = "A setting of the consumers; overrides their file. May be given several times."
                    + " Better put passwords in a file: command lines are visible to others.")
    private Map<String, String> sourceSettings = Map.of();

    @Option(
            names = "--target-setting",
            paramLabel = "KEY=VALUE",
            order = 7,
            description = "A setting of the producer; overrides its file. May be given several times.")
    private Map<String, String> targetSettings = Map.of();

    @Option(
            names = ConfigFile.OPTION,
            paramLabel = "FILE",
            order = 7,
            description = "A YAML file (*.yaml, *.yml) or a properties file with any of these options, under their"
                    + " names without dashes, and settings of the clients under source.KEY and target.KEY. Options on"
                    + " the command line override the file's.")
    @SuppressWarnings("unused") // ConfigFile reads it; see useFile.
    private Path configFile;

    /** The file of {@code --config}; null without one. */
    private ConfigFile file;

    @Option(
            names = "--producer",
            paramLabel = "millrace|stock",
            converter = ProducerKindParser.class,
            defaultValue = "millrace",
            order = 8,
            description = "Producer to write with: Millrace's, or that of kafka-clients, to compare."
                    + " Default: ${DEFAULT-VALUE}.")
    private ProducerKind producerKind;

    @Option(
            names = "--mode",
            paramLabel = "MODE",
            converter = CopyModeParser.class,
            order = 9,
            description = "How records get from the source to the producer. auto passes large batches on as they came,"
                    + " and copies the records of small ones into new ones; batches passes all that the target takes;"
                    + " records copies all. These three fetch by themselves and need --producer millrace. consumer: a"
                    + " Kafka consumer for each thread, record by record, with any producer and with interceptors."
                    + " Default: auto; consumer with --producer stock, and with interceptors.")
    private CopyMode mode;

    @Option(
            names = "--wait-for-target",
            paramLabel = "DURATION",
            converter = DurationParser.class,
            defaultValue = "forever",
            order = 12,
            description = "How long the target may acknowledge nothing of a partition that has records waiting"
                    + " (90s, 5m, 2h); after that the mirror ends. Default: ${DEFAULT-VALUE}.")
    private Duration waitForTarget;

    @Option(
            names = "--wait-at-start",
            paramLabel = "DURATION",
            converter = DurationParser.class,
            defaultValue = "1m",
            order = 13,
            description = "How long the mirror waits at its start for both clusters to answer and for a topic to match."
                    + " 0: it ends if they do not. Default: ${DEFAULT-VALUE}.")
    private Duration waitAtStart;

    @Option(
            names = "--on-gap",
            paramLabel = "go-on|stop-partition",
            converter = GapPolicyParser.class,
            defaultValue = "go-on",
            order = 14,
            description = "What to do with a partition of which the source no longer has the next records, because its"
                    + " retention was shorter than the mirror was stopped, or its log was truncated. Either is logged and"
                    + " counted. Default: ${DEFAULT-VALUE}.")
    private GapPolicy onGap;

    @Option(
            names = "--on-target-lost",
            paramLabel = "copy-again|stop-partition|go-on",
            converter = TargetLossPolicyParser.class,
            defaultValue = "copy-again",
            order = 14,
            description =
                    "What to do with a partition when the target has lost what the mirror had copied of it: its topic"
                            + " was deleted or created anew there, or the target was set up anew. copy-again:"
                            + " copy it again, with all that the source still has. stop-partition: copy nothing more of it. go-on:"
                            + " copy only what comes next. Each is logged. With --resume exactly-once only copy-again is possible."
                            + " Default: ${DEFAULT-VALUE}.")
    private TargetLossPolicy onTargetLost;

    @Mixin
    private RefusalOptions refusals = new RefusalOptions();

    static final class GapPolicyParser implements ITypeConverter<GapPolicy> {
        @Override
        public GapPolicy convert(String text) {
            return OptionValues.parse(GapPolicy.values(), text);
        }
    }

    static final class TargetLossPolicyParser implements ITypeConverter<TargetLossPolicy> {
        @Override
        public TargetLossPolicy convert(String text) {
            return OptionValues.parse(TargetLossPolicy.values(), text);
        }
    }

    static final class DurationParser implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            return OptionValues.parseDuration(text);
        }
    }

    @Mixin
    private GroupOptions groups = new GroupOptions();

    @Mixin
    private SyncOptions sync = new SyncOptions();

    @Option(
            names = "--resume",
            paramLabel = "MODE",
            converter = ResumeModeParser.class,
            order = 14,
            description = "What to do about records that a killed mirror has written and not committed. exact: ask the"
                    + " target which these are, and leave them out. exactly-once: write records and progress in one"
                    + " transaction on the target, where the group is then; readers with isolation.level=read_committed"
                    + " never see them. Neither with --mode consumer. at-least-once: write them again. Default: exact,"
                    + " but at-least-once with --mode consumer.")
    private ResumeMode resume;

    static final class ResumeModeParser implements ITypeConverter<ResumeMode> {
        @Override
        public ResumeMode convert(String text) {
            return OptionValues.parse(ResumeMode.values(), text);
        }
    }

    static final class CopyModeParser implements ITypeConverter<CopyMode> {
        @Override
        public CopyMode convert(String text) {
            return OptionValues.parse(CopyMode.values(), text);
        }
    }

    /** Converts names; the errors of picocli's own converter would name the Java constants. */
    static final class ProducerKindParser implements ITypeConverter<ProducerKind> {
        @Override
        public ProducerKind convert(String text) {
            return OptionValues.parse(ProducerKind.values(), text);
        }
    }

    /** Returns the options of the command, if it has them. */
    static Optional<MirrorOptions> of(CommandLine command) {
        return command.getCommandSpec().mixins().values().stream()
                .map(CommandSpec::userObject)
                .filter(MirrorOptions.class::isInstance)
                .map(MirrorOptions.class::cast)
                .findFirst();
    }

    /** Adds the client settings in this file. Its options are already on the command line. */
    void useFile(ConfigFile config) {
        file = config;
    }

    /** Returns the file of {@code --config}, if there is one. */
    Optional<ConfigFile> file() {
        return Optional.ofNullable(file);
    }

    private GivenSettings sourceSettings() {
        GivenSettings given = new GivenSettings();
        ClientConfigs.addFile(given, ClientConfigs.CONSUMER_FILE, consumerConfig);
        file().ifPresent(config -> config.addSettings(given, "source."));
        given.add(sourceSettings, "--source-setting", " ");
        given.addOption(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, source, "--source");
        given.addOption(ConsumerConfig.GROUP_ID_CONFIG, group, "--group");
        return given;
    }

    private GivenSettings targetSettings() {
        GivenSettings given = new GivenSettings();
        ClientConfigs.addFile(given, ClientConfigs.PRODUCER_FILE, producerConfig);
        file().ifPresent(config -> config.addSettings(given, "target."));
        given.add(targetSettings, "--target-setting", " ");
        given.addOption(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, target, "--target");
        return given;
    }

    /**
     * Returns the configuration that these options describe.
     *
     * @throws MirrorException naming the option or the file that is wrong
     */
    public MirrorConfig toConfig() {
        return toConfig(isBack);
    }

    /**
     * Returns the configuration of a mirror in the other direction: back, or with {@code --back} there.
     *
     * @throws MirrorException naming the option or the file that is wrong
     */
    MirrorConfig toOppositeConfig() {
        return toConfig(!isBack);
    }

    private MirrorConfig toConfig(boolean isWayBack) {
        return toConfig(isWayBack, consumerSettings(isWayBack), producerSettings(isWayBack));
    }

    private GivenSettings consumerSettings(boolean isWayBack) {
        return isWayBack ? sourceSettings().at(targetSettings()) : sourceSettings();
    }

    private GivenSettings producerSettings(boolean isWayBack) {
        return isWayBack ? targetSettings().at(sourceSettings()) : targetSettings();
    }

    /**
     * Does the same as {@link #toConfig} after opening each client once, so that a wrong setting is reported with its
     * place.
     *
     * @throws MirrorException naming the option or the file that is wrong
     */
    MirrorConfig toCheckedConfig() {
        GivenSettings ofSource = consumerSettings(isBack);
        GivenSettings ofTarget = producerSettings(isBack);
        MirrorConfig config = toConfig(isBack, ofSource, ofTarget);
        ClientCheck.checkConsumer(config.consumer(), ofSource);
        ClientCheck.checkProducer(config.producer(), producerKind, ofTarget);
        if (config.isExactlyOnce()) {
            Map<String, Object> transactional = DerivedConfigs.transactional(config.producer(), "any");
            ofTarget.validate(() -> new ProducerConfig(transactional));
        }
        return config;
    }

    private MirrorConfig toConfig(boolean isWayBack, GivenSettings ofSource, GivenSettings ofTarget) {
        OptionValues.requirePositive("--threads", threads);
        Map<String, Object> consumer = ClientConfigs.consumer(ofSource);
        Map<String, Object> producer = ClientConfigs.producer(ofTarget);
        if (mode != null && mode.isFetching()) {
            requireNoInterceptors(consumer, ofSource);
            requireNoInterceptors(producer, ofTarget);
        }
        CopyMode chosen = mode(consumer, producer);
        TopicNames names = topicNames.toNames();
        if (isWayBack) {
            consumer.computeIfPresent(ConsumerConfig.GROUP_ID_CONFIG, (key, there) -> there + MirrorGroup.BACK_SUFFIX);
        }
        return new MirrorConfig(
                isWayBack ? names.ofCopies(topics()) : topics(),
                isWayBack ? names.reversed() : names,
                threads,
                chosen,
                producerKind,
                consumer,
                producer,
                new MirrorPolicies(
                        starts(isWayBack, consumer),
                        isWayBack,
                        onGap,
                        targetLossPolicy(),
                        waitForTarget,
                        waitAtStart,
                        refusals.toPolicies(resume, producerKind, producer),
                        resume(chosen),
                        groups.toPolicy(),
                        isWayBack ? SyncPolicy.NONE : sync.toPolicy()));
    }

    /** What is there when a cutover ends has positions, so on the way back only what appears later begins anywhere. */
    private ByTopic<ResetPolicy> starts(boolean isWayBack, Map<String, Object> consumer) {
        return isWayBack
                ? ByTopic.ofAll(ResetPolicy.of("earliest"))
                : starts.toPolicies(ResetPolicy.of(
                        consumer.get(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG).toString()));
    }

    private Pattern topics() {
        Pattern included = TopicPattern.parse("--topics", topics);
        return excludedTopics == null
                ? included
                : TopicPattern.without(included, TopicPattern.parse("--exclude-topics", excludedTopics));
    }

    private TargetLossPolicy targetLossPolicy() {
        if (resume == ResumeMode.EXACTLY_ONCE && onTargetLost != TargetLossPolicy.COPY_AGAIN) {
            throw MirrorException.usage("--on-target-lost " + onTargetLost + " with --resume " + resume
                    + ": there the progress is on the target, too, and is lost with the copies, so only "
                    + TargetLossPolicy.COPY_AGAIN + " is possible; or choose another --resume");
        }
        return onTargetLost;
    }

    private ResumeMode resume(CopyMode chosen) {
        if (resume != null && resume != ResumeMode.AT_LEAST_ONCE && !chosen.isFetching()) {
            throw MirrorException.usage("--mode " + chosen + " --resume " + resume
                    + ": this mode only writes at least once; choose --mode " + CopyMode.AUTO + ", "
                    + CopyMode.BATCHES + " or " + CopyMode.RECORDS + " with --producer " + ProducerKind.MILLRACE
                    + ", or --resume " + ResumeMode.AT_LEAST_ONCE);
        }
        if (resume != null) {
            return resume;
        }
        return chosen.isFetching() ? ResumeMode.EXACT : ResumeMode.AT_LEAST_ONCE;
    }

    /** Returns the requested mode, or the default for these clients. */
    private CopyMode mode(Map<String, Object> consumer, Map<String, Object> producer) {
        if (mode == null) {
            boolean canFetch =
                    producerKind == ProducerKind.MILLRACE && !hasInterceptors(consumer) && !hasInterceptors(producer);
            return canFetch ? CopyMode.AUTO : CopyMode.CONSUMER;
        }
        if (mode.isFetching() && producerKind != ProducerKind.MILLRACE) {
            throw MirrorException.usage("--mode " + mode + " --producer " + producerKind
                    + ": this mode hands whole batches to the producer, which only millrace takes; with another"
                    + " producer use --mode consumer");
        }
        return mode;
    }

    /** Refuses interceptors, which take single records: these modes never create any. */
    private void requireNoInterceptors(Map<String, Object> client, GivenSettings given) {
        if (hasInterceptors(client)) {
            throw MirrorException.usage(given.describe(INTERCEPTORS, client.get(INTERCEPTORS))
                    + " would not be called with --mode " + mode + "; use --mode consumer");
        }
    }

    private static boolean hasInterceptors(Map<String, Object> client) {
        Object interceptors = client.get(INTERCEPTORS);
        return interceptors != null && !interceptors.toString().isBlank();
    }
}
