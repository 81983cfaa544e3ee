package dev.millrace.mirror.topics;

import dev.millrace.mirror.config.InternalTopics;
import dev.millrace.mirror.progress.BothClusters;
import java.nio.charset.StandardCharsets;
import java.util.Set;

/**
 * The compacted topic of the target in which a cutover keeps what must be known later: by another cutover, and by the
 * mirror once Kafka has forgotten the positions that keep it from going on.
 */
public final class CutoverTopic {
    /** The key of the record that is there once the direction is turned, so that the mirror must not go on. */
    public static final String TURNED = "turned";
    /** The key of the record that is there while a cutover turns the direction. */
    public static final String TURNING = "turning";

    private CutoverTopic() {}

    public static String name(BothClusters clusters) {
        return InternalTopics.ofGroup(InternalTopics.CUTOVER_PREFIX, clusters.nameAtTarget());
    }

    /** Returns the topic. Close it if something was written to it. */
    public static CompactedTopic of(BothClusters clusters) {
        return new CompactedTopic(name(clusters), CompactedTopic.Home.target(clusters.target(), clusters.config()));
    }

    /**
     * Whether a cutover has turned the direction of this mirror, or was killed while it did. Blocks while the target
     * answers.
     */
    public static boolean isTurned(BothClusters clusters) {
        Set<String> keys = Set.of(TURNED, TURNING);
        return of(clusters)
                .read(key -> keys.contains(new String(key, StandardCharsets.UTF_8)))
                .filter(found -> !found.isEmpty())
                .isPresent();
    }
}
