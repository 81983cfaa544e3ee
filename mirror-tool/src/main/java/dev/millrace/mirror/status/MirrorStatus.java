package dev.millrace.mirror.status;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.config.ResumeMode;
import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.control.ControlState;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What a mirror does at one moment. Its counts are of this process, since its start, and are read one after the other.
 *
 * @param condition how it is
 * @param clusters from where to where it mirrors
 * @param certificates that it shows to the clusters
 * @param totals of all partitions
 * @param catchUpSeconds seconds until it has caught up if its lag keeps falling as in the last minute; 0 if it has; NaN
 *     if unknown
 * @param partitions all that this process has ever owned, by topic and number
 * @param members of the group in this process
 * @param memory of the producer
 * @param bytes in and out
 * @param events exceptional events
 * @param controls which topics are paused and throttled
 */
public record MirrorStatus(
        Condition condition,
        Clusters clusters,
        List<CertificateStatus> certificates,
        MirrorTotals totals,
        double catchUpSeconds,
        List<PartitionStatus> partitions,
        List<MemberStatus> members,
        ProducerMemory memory,
        Bytes bytes,
        Events events,
        ControlState controls) {
    /** Says what will hinder the mirror soon; empty if nothing is known to. */
    public String warning() {
        Instant now = Instant.now();
        return certificates.stream()
                .map(certificate -> certificate.warning(now))
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining(". "));
    }

    /**
     * How a mirror is.
     *
     * @param failure why it no longer works, because it has failed or hangs; empty if it works
     * @param obstacle why it does not mirror all its partitions at the moment; empty if it does
     */
    public record Condition(
            MirrorState state,
            String failure,
            String obstacle,
            boolean isSourceAnswering,
            boolean isTargetAnswering,
            double upSeconds) {
        public boolean isHealthy() {
            return failure.isEmpty();
        }

        public boolean isReady() {
            return obstacle.isEmpty();
        }
    }

    /**
     * From where to where it mirrors.
     *
     * @param source address of the cluster
     * @param target address of the cluster
     * @param names of the topics on the target
     * @param group empty until it is known
     * @param threads that feed the producer
     */
    public record Clusters(
            String source,
            String target,
            TopicNames names,
            String group,
            CopyMode mode,
            ResumeMode resume,
            int threads) {}

    /**
     * The memory in which the producer keeps records until they are acknowledged.
     *
     * @param usedBytes of {@code buffer.memory}
     * @param waitSeconds total time that threads have waited for memory
     */
    public record ProducerMemory(long usedBytes, long totalBytes, double waitSeconds) {}

    /**
     * Bytes of whole batches, compressed as they are.
     *
     * @param fetched bytes fetched from the source; 0 if Kafka's consumer fetches
     * @param written to the target
     */
    public record Bytes(long fetched, long written) {}

    /**
     * Exceptional events.
     *
     * @param recreated partitions that began again because their topic was deleted from the source and created again
     * @param refusedTopics how many topics are not mirrored because they cannot have their names on the target
     * @param stallSeconds total time that partitions have stalled
     */
    public record Events(
            SourceGapsMXBean gaps,
            long recreated,
            RefusedRecordsMXBean refused,
            int refusedTopics,
            Map<StallCause, Double> stallSeconds) {}
}
