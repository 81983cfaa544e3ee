package dev.millrace.mirror.config;

import java.time.Duration;

/**
 * What a mirror does when something is not as it needs it.
 *
 * @param onGap what it does with a partition whose next records the source has lost
 * @param onTargetLost what it does with a partition when the target has lost what was copied of it
 * @param waitForTarget how long the target may take nothing of a partition before the mirror ends
 * @param waitAtStart how long the mirror waits at its start for the clusters to answer and for a topic to match
 * @param onRefused what it does with records that the target refuses
 * @param resume what it does about records that a former process has written and not committed; with {@link
 *     CopyMode#CONSUMER} it is at least once
 * @param groups whose offsets it keeps on the target, too
 * @param sync what else it keeps on the target as it is on the source
 */
public record MirrorPolicies(
        GapPolicy onGap,
        TargetLossPolicy onTargetLost,
        Duration waitForTarget,
        Duration waitAtStart,
        RefusalPolicies onRefused,
        ResumeMode resume,
        GroupPolicy groups,
        SyncPolicy sync) {
    /** About 292 years, what {@code System.nanoTime} can count. */
    public static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

    /** Goes on after gaps, copies again what the target has lost, waits for a target as long as it takes, and not at the start; resumes exactly. */
    public static final MirrorPolicies DEFAULT = new MirrorPolicies(
            GapPolicy.GO_ON,
            TargetLossPolicy.COPY_AGAIN,
            FOREVER,
            Duration.ZERO,
            RefusalPolicies.STOP,
            ResumeMode.EXACT,
            GroupPolicy.NONE,
            SyncPolicy.NONE);
}
