package dev.millrace.mirror.progress;

import dev.millrace.mirror.config.MirrorConfig;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerConfig;

/**
 * Names consumer groups and marks their offsets, so that mirrors of the same source can be told apart. Both contain the
 * target's cluster id, which stays the same when addresses change.
 */
public final class MirrorGroup {
    /** The prefix of all default group names. */
    static final String PREFIX = "millrace-mirror";

    /** Ends the names of groups of mirrors on the way back. */
    public static final String BACK_SUFFIX = "-back";

    private static final String MARK = PREFIX + " to ";
    private static final String ENDED = " until a cutover";

    private MirrorGroup() {}

    /** Returns the name of the default group, on the source, of a mirror to this target. */
    public static String defaultName(String targetId) {
        return PREFIX + "-" + targetId;
    }

    /** Returns the name of the default group, on the target, of a mirror that writes each record exactly once. */
    public static String defaultNameOnTarget(String sourceId) {
        return PREFIX + "-from-" + sourceId;
    }

    /** Whether this is the name of such a default group, whatever the source of its mirror is. */
    public static boolean isDefaultNameOnTarget(String group) {
        return group.startsWith(defaultNameOnTarget(""));
    }

    /** Returns the group in which a mirror with this configuration keeps its progress. */
    public static String of(MirrorConfig config, String sourceId, String targetId) {
        boolean isOnTarget = config.isExactlyOnce();
        return isOnTarget ? onTarget(config, sourceId) : onSource(config, targetId);
    }

    /** Returns the group on the target that the mirror has with exactly once. */
    public static String onTarget(MirrorConfig config, String sourceId) {
        return givenOr(ownName(defaultNameOnTarget(sourceId), config), config);
    }

    /** Returns the mirror's group on the source; with exactly once, that only tells where the mirror begins. */
    public static String onSource(MirrorConfig config, String targetId) {
        return givenOr(ownName(defaultName(targetId), config), config);
    }

    /** An ordinary mirror in that direction, of other topics, may have the default name. */
    private static String ownName(String defaultName, MirrorConfig config) {
        return config.policies().isWayBack() ? defaultName + BACK_SUFFIX : defaultName;
    }

    private static String givenOr(String defaultName, MirrorConfig config) {
        return config.consumer()
                .getOrDefault(ConsumerConfig.GROUP_ID_CONFIG, defaultName)
                .toString();
    }

    /** Returns a mirror's consumer configuration with this group. */
    public static Map<String, Object> withGroup(Map<String, Object> consumer, String group) {
        Map<String, Object> config = new HashMap<>(consumer);
        config.put(ConsumerConfig.GROUP_ID_CONFIG, group);
        return config;
    }

    /** Returns the cluster id in a {@link #mark}; empty if the text is not a mark. */
    static Optional<String> targetOf(String mark) {
        return mark.startsWith(MARK)
                ? Optional.of(mark.substring(MARK.length(), mark.length() - (isEnded(mark) ? ENDED.length() : 0)))
                : Optional.empty();
    }

    /** Returns the mark of a mirror to this target that must not go on, because a cutover has turned the direction. */
    static String ended(String targetId) {
        return mark(targetId) + ENDED;
    }

    /** Whether this is a {@link #ended} mark. */
    static boolean isEnded(String mark) {
        return mark.startsWith(MARK) && mark.endsWith(ENDED);
    }

    /** Returns the mark that a mirror to this target commits with each offset ({@link CommitMetadata}) in any group. */
    public static String mark(String targetId) {
        return MARK + targetId;
    }
}
