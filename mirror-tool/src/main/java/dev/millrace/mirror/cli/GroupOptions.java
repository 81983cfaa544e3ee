package dev.millrace.mirror.cli;

import dev.millrace.mirror.config.ClusterRole;
import dev.millrace.mirror.config.GroupPolicy;
import dev.millrace.mirror.config.GroupPolicy.OffsetSyncsPlace;
import dev.millrace.mirror.config.TopicPattern;
import dev.millrace.mirror.text.MirrorException;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** The options about consumer groups that can continue at the target. */
final class GroupOptions {
    @Option(
            names = "--groups",
            paramLabel = "REGEX",
            order = 15,
            description = "Consumer groups of the source whose committed offsets are kept on the target, too,"
                    + " translated, so that they can go on there: those whose whole name matches, or one of several"
                    + " expressions separated by commas. Default: none.")
    private String groups;

    @Option(
            names = "--groups-interval",
            paramLabel = "DURATION",
            converter = MirrorOptions.DurationParser.class,
            order = 15,
            description = "How often the offsets of --groups are written to the target, at least 1s. Default: 1m.")
    private Duration interval = GroupPolicy.DEFAULT_INTERVAL;

    @Option(
            names = "--mm2-checkpoints",
            paramLabel = "ALIAS",
            order = 15,
            description =
                    "Write the offsets of --groups also to the topic ALIAS.checkpoints.internal on the target, where"
                            + " programs find them that call RemoteClusterUtils.translateOffsets of MirrorMaker 2 with this"
                            + " alias of the source. Default: no.")
    private String checkpointsAlias;

    @Option(
            names = "--mm2-offset-syncs",
            paramLabel = "ALIAS",
            order = 15,
            description =
                    "Write to the topic mm2-offset-syncs.ALIAS.internal, every --groups-interval, which offsets the"
                            + " last record of each partition has on both clusters, as MirrorMaker 2 does, so that one can"
                            + " translate the offsets of groups later. ALIAS is what it calls the target; or the source, with"
                            + " --mm2-offset-syncs-location target. Default: no.")
    private String offsetSyncsAlias;

    @Option(
            names = "--mm2-offset-syncs-location",
            paramLabel = "source|target",
            converter = ClusterRoleParser.class,
            defaultValue = "source",
            order = 15,
            description = "The cluster that has the topic of --mm2-offset-syncs: offset-syncs.topic.location of"
                    + " MirrorMaker 2. Default: ${DEFAULT-VALUE}, as there.")
    private ClusterRole offsetSyncsLocation;

    static final class ClusterRoleParser implements ITypeConverter<ClusterRole> {
        @Override
        public ClusterRole convert(String text) {
            return OptionValues.parse(ClusterRole.values(), text);
        }
    }

    /**
     * Returns the policy that these options describe.
     *
     * @throws MirrorException naming the option that is wrong
     */
    GroupPolicy toPolicy() {
        if (interval.isZero()) {
            throw MirrorException.usage("--groups-interval 0: at least 1s is needed");
        }
        Optional<String> checkpoints = alias("--mm2-checkpoints", checkpointsAlias);
        Optional<OffsetSyncsPlace> offsetSyncs = alias("--mm2-offset-syncs", offsetSyncsAlias)
                .map(alias -> new OffsetSyncsPlace(offsetSyncsLocation, alias));
        return groups == null
                ? GroupPolicy.NONE
                : new GroupPolicy(
                        Optional.of(TopicPattern.parse("--groups", groups)), interval, checkpoints, offsetSyncs);
    }

    private Optional<String> alias(String option, String aliasOrNull) {
        if (aliasOrNull != null && groups == null) {
            throw MirrorException.usage(option + " " + aliasOrNull + ": --groups is needed, the groups for which it is,"
                    + " such as 'payments-.*'");
        }
        if (aliasOrNull != null && !aliasOrNull.matches("[a-zA-Z0-9._-]+")) {
            throw MirrorException.usage(option + " '" + aliasOrNull
                    + "': an alias is part of a topic's name, and has letters, digits, '.', '_' and '-'");
        }
        return Optional.ofNullable(aliasOrNull);
    }
}
