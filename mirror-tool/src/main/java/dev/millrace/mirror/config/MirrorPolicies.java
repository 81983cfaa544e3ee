package dev.millrace.mirror.config;

import dev.millrace.mirror.fetch.ResetPolicy;
import java.time.Duration;

/**
 * What a mirror does when a cluster is not in the state that it needs.
 *
 * @param starts where the partitions begin that are there when the mirror first starts
 * @param isWayBack whether it copies back what another mirror has moved, and so needs a cutover to say where it begins
 * @param onGap what it does with a partition whose next records the source has lost
 * @param onTargetLost what it does with a partition when the target has lost its copy
 * @param waitForTarget how long the target may accept nothing for a partition before the mirror ends
 * @param waitAtStart how long the mirror waits at its start for the clusters to answer and for a topic to match
 * @param onRefused what it does with records that the target refuses
 * @param resume what it does about records whose progress an earlier process did not commit; with {@link
 *     CopyMode#CONSUMER} it is at least once
 * @param groups which groups' offsets it also keeps on the target
 * @param sync what else it keeps in sync on the target
 */
public record MirrorPolicies(
        ByTopic<ResetPolicy> starts,
        boolean isWayBack,
        GapPolicy onGap,
        TargetLossPolicy onTargetLost,
        Duration waitForTarget,
        Duration waitAtStart,
        RefusalPolicies onRefused,
        ResumeMode resume,
        GroupPolicy groups,
        SyncPolicy sync) {
    /** About 292 years, the range of {@code System.nanoTime}. */
    public static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

    /**
     * Begins with the first records, continues after gaps, copies again what the target has lost, waits for a target for as long as it takes but not
     * at the start, and resumes exactly.
     */
    public static final MirrorPolicies DEFAULT = new MirrorPolicies(
            ByTopic.ofAll(ResetPolicy.of("earliest")),
            false,
            GapPolicy.GO_ON,
            TargetLossPolicy.COPY_AGAIN,
            FOREVER,
            Duration.ZERO,
            RefusalPolicies.STOP,
            ResumeMode.EXACT,
            GroupPolicy.NONE,
            SyncPolicy.NONE);
}
