package dev.millrace.mirror.cli;

import dev.millrace.mirror.config.SyncPolicy;
import dev.millrace.mirror.config.SyncedPart;
import dev.millrace.mirror.text.MirrorException;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** The options about what is kept in sync on the target besides records. */
final class SyncOptions {
    @Option(
            names = "--sync",
            paramLabel = "PART[,PART]",
            split = ",",
            converter = SyncedPartParser.class,
            order = 16,
            description =
                    "What is kept on the target as it is on the source, besides records. settings: those of topics"
                            + " that exist there. acls: who may read the topics. quotas: those of users and client ids."
                            + " Default: none of them.")
    private Set<SyncedPart> synced = Set.of();

    static final class SyncedPartParser implements ITypeConverter<SyncedPart> {
        @Override
        public SyncedPart convert(String text) {
            return OptionValues.parse(SyncedPart.values(), text.strip());
        }
    }

    @Option(
            names = "--exclude-settings",
            paramLabel = "NAME[,NAME]",
            split = ",",
            order = 16,
            description = "Settings of topics that are never copied, besides those that cannot be the same in two"
                    + " clusters. Default: none.")
    private Set<String> excludedSettings = Set.of();

    @Option(
            names = "--sync-interval",
            paramLabel = "DURATION",
            converter = MirrorOptions.DurationParser.class,
            order = 16,
            description = "How often the clusters are compared for --sync, at least 1s. Default: 1m.")
    private Duration interval = SyncPolicy.DEFAULT_INTERVAL;

    /**
     * Returns the policy that these options describe.
     *
     * @throws MirrorException naming the option that is wrong
     */
    SyncPolicy toPolicy() {
        if (interval.isZero()) {
            throw MirrorException.usage("--sync-interval 0: at least 1s is needed");
        }
        Set<String> excluded = excludedSettings.stream().map(String::strip).collect(Collectors.toSet());
        for (String name : excluded) {
            if (!name.matches("[a-zA-Z0-9._-]+")) {
                throw MirrorException.usage("--exclude-settings '" + name
                        + "': expected are names of settings of topics, such as retention.ms,segment.bytes");
            }
        }
        return new SyncPolicy(Set.copyOf(synced), excluded, interval);
    }
}
