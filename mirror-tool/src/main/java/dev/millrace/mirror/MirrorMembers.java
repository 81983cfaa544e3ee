package dev.millrace.mirror;

import java.time.Duration;
import org.apache.kafka.clients.admin.Admin;

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
     */
    record Shared(
            SourceChanges changes,
            TargetPartitions partitions,
            TargetWatch watch,
            TopicLimits limits,
            Admin source,
            Admin target) {}

    /** A member, which is not started yet; they are numbered from 0. */
    Member create(int number);

    /** Closes the producer, which wakes threads that wait in it; what it still holds fails after the time. */
    void closeProducer(Duration timeout);
}
