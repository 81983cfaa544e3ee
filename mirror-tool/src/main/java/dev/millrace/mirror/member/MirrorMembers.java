package dev.millrace.mirror.member;

import dev.millrace.client.raw.RawPartition;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.copy.CopyTarget;
import dev.millrace.mirror.pass.OpenDecision;
import dev.millrace.mirror.progress.FirstStart;
import dev.millrace.mirror.progress.SourceChanges;
import dev.millrace.mirror.topics.TargetPartitions;
import dev.millrace.mirror.topics.TargetWatch;
import dev.millrace.mirror.topics.TopicLimits;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;

/**
 * Creates the members of the mirror's group in this process, and owns their producer.
 *
 * <p><b>Threads:</b> the thread that runs the mirror.
 */
public interface MirrorMembers {
    /**
     * What all members share.
     *
     * @param unplacedAtFirstStart as {@link FirstStart#place} returns them
     * @param partitions of the target
     * @param limits of the target's topics
     * @param copies for queries about the copies on the target
     */
    record Shared(
            SourceChanges changes,
            Set<TopicPartition> unplacedAtFirstStart,
            TargetPartitions partitions,
            TargetWatch watch,
            TopicLimits limits,
            Admin source,
            CopiesOnTarget copies) {
        /** @param open opens a partition of the target by its topic's name and its number */
        CopyTarget target(CopyMode mode, BiFunction<String, Integer, RawPartition> open) {
            return partition -> {
                try {
                    String to = copies.names().onTarget(partition.topic());
                    return new CopyTarget.OpenTarget(
                            open.apply(to, partition.partition()), new OpenDecision(mode.passMode(), limits.of(to)));
                } catch (RetriableException e) {
                    partitions.onMissing(partition);
                    return null;
                }
            };
        }
    }

    /** Creates a member and does not start it. Members are numbered from 0. */
    Member create(int number);

    /** Returns the producer's metrics. Threads: any. */
    Map<MetricName, ? extends Metric> producerMetrics();

    /**
     * Closes the producer, which wakes threads that wait in it. Records that it still holds after the time-out fail.
     */
    void closeProducer(Duration timeout);
}
