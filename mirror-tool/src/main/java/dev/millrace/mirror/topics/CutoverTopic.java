package dev.millrace.mirror.topics;

import dev.millrace.mirror.config.InternalTopics;
import dev.millrace.mirror.progress.BothClusters;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.kafka.common.utils.Utils;

/**
 * The compacted topic of the target in which a cutover keeps what must be known later: by another cutover, and by the
 * mirror once Kafka has forgotten the positions that keep it from going on.
 */
public final class CutoverTopic {
    /** The key of the record that is there while the target is the cluster in use. */
    public static final String DONE = "done";
    /** The value of that record if the mirror must not go on, because a way back was kept. */
    public static final String TURNED = "turned";

    private CutoverTopic() {}

    public static String name(BothClusters clusters) {
        return InternalTopics.ofGroup(InternalTopics.CUTOVER_PREFIX, clusters.nameAtTarget());
    }

    /** Returns the topic. Close it if something was written to it. */
    public static CompactedTopic of(BothClusters clusters) {
        return new CompactedTopic(name(clusters), CompactedTopic.Home.target(clusters.target(), clusters.config()));
    }

    /** Whether a cutover has turned the direction of this mirror. Blocks while the target answers. */
    public static boolean isTurned(BothClusters clusters) {
        return of(clusters).read(key -> DONE.equals(text(key))).orElse(Map.of()).values().stream()
                .anyMatch(value -> TURNED.equals(text(value)));
    }

    public static String text(ByteBuffer key) {
        return text(Utils.toArray(key));
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    public static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
