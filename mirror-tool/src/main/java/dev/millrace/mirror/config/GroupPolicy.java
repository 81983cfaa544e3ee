package dev.millrace.mirror.config;

import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Which groups' committed offsets a mirror also keeps on the target.
 *
 * @param names matches the whole names of these groups of the source; empty to keep none
 * @param interval how often it writes them there
 * @param checkpointsAlias the source's alias for programs that read MirrorMaker 2's checkpoints, which the mirror then
 *     writes too
 * @param offsetSyncs where it also writes MirrorMaker 2's offset syncs, if anywhere
 */
public record GroupPolicy(
        Optional<Pattern> names,
        Duration interval,
        Optional<String> checkpointsAlias,
        Optional<OffsetSyncsPlace> offsetSyncs) {
    /** The interval of MirrorMaker 2. */
    public static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(60);

    public static final GroupPolicy NONE =
            new GroupPolicy(Optional.empty(), DEFAULT_INTERVAL, Optional.empty(), Optional.empty());

    /**
     * A topic of MirrorMaker 2.
     *
     * @param alias what MirrorMaker 2 calls the other cluster
     */
    public record OffsetSyncsPlace(ClusterRole cluster, String alias) {}
}
