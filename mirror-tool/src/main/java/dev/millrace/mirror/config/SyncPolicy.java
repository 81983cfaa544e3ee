package dev.millrace.mirror.config;

import java.time.Duration;
import java.util.Set;

/**
 * What a mirror keeps on the target as it is on the source, besides records.
 *
 * @param excludedSettings names of settings that are the target's own, for new topics too
 * @param interval how often both clusters are compared, at least 1 s
 */
public record SyncPolicy(Set<SyncedPart> parts, Set<String> excludedSettings, Duration interval) {
    public static final Duration DEFAULT_INTERVAL = Duration.ofMinutes(1);

    /** Nothing. */
    public static final SyncPolicy NONE = new SyncPolicy(Set.of(), Set.of(), DEFAULT_INTERVAL);
}
