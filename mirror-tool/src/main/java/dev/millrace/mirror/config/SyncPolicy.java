package dev.millrace.mirror.config;

import java.time.Duration;
import java.util.Set;

/**
 * What a mirror keeps in sync on the target besides records.
 *
 * @param excludedSettings names of settings that the target keeps as they are, for new topics too
 * @param interval how often both clusters are compared, at least 1 s
 */
public record SyncPolicy(Set<SyncedPart> parts, Set<String> excludedSettings, Duration interval) {
    public static final Duration DEFAULT_INTERVAL = Duration.ofMinutes(1);

    /** Keeps nothing in sync. */
    public static final SyncPolicy NONE = new SyncPolicy(Set.of(), Set.of(), DEFAULT_INTERVAL);
}
