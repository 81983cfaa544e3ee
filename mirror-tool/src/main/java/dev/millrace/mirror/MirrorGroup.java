package dev.millrace.mirror;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;

/**
 * Names by which mirrors of the same source tell their consumer groups apart: each is that of the target's cluster id,
 * which stays when addresses change.
 */
final class MirrorGroup {
    /** The group of every mirror of an earlier version, whatever its target. */
    static final String OF_EARLIER_VERSIONS = "millrace-mirror";

    private MirrorGroup() {}

    /** The default group, on the source, of a mirror to this target. */
    static String defaultName(String targetId) {
        return OF_EARLIER_VERSIONS + "-" + targetId;
    }

    /** A mirror's consumer configuration with this group. */
    static Map<String, Object> withGroup(Map<String, Object> consumer, String group) {
        Map<String, Object> config = new HashMap<>(consumer);
        config.put(ConsumerConfig.GROUP_ID_CONFIG, group);
        return config;
    }

    /** What a mirror to this target commits beside each offset, so that it is known in a group of any name. */
    static String mark(String targetId) {
        return "millrace-mirror to " + targetId;
    }

    /** An offset as a mirror with this mark commits it. */
    static OffsetAndMetadata withMark(OffsetAndMetadata position, String mark) {
        return new OffsetAndMetadata(position.offset(), position.leaderEpoch(), mark);
    }
}
