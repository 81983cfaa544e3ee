package dev.millrace.mirror;

import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;

/**
 * Makes the members of the mirror's group in this process, and has their producer.
 *
 * <p><b>Threads:</b> that which runs the mirror.
 */
interface MirrorMembers {
    /**
     * What all members share.
     *
     * @param partitions of the target
     * @param limits of its topics
     * @param copies to be asked about
     */
    record Shared(
            SourceChanges changes,
            TargetPartitions partitions,
            TargetWatch watch,
            TopicLimits limits,
            Admin source,
            CopiesOnTarget copies) {}

    /** A member, which is not started yet; they are numbered from 0. */
    Member create(int number);

    /** Those of the producer. Threads: any. */
    Map<MetricName, ? extends Metric> producerMetrics();

    /** Closes the producer, which wakes threads that wait in it; what it still holds fails after the time. */
    void closeProducer(Duration timeout);
}
