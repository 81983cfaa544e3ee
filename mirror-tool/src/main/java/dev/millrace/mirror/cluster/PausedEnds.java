package dev.millrace.mirror.cluster;

import java.util.Collection;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/**
 * Up to where the source has records of paused partitions. Nobody fetches them, so nobody else knows how they grow.
 *
 * <p><b>Threads:</b> one timer asks, a thread of the admin client writes, any reads.
 */
public final class PausedEnds {
    private static final long CURRENT_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** So that few questions are open at a time while the source does not answer. */
    private static final int TIMEOUT_MS = 5_000;

    private final Map<TopicPartition, End> ends = new ConcurrentHashMap<>();

    private record End(long offset, long askedNanos) {}

    /**
     * Asks the source for these, and forgets all others. To be called about once a second. Does not block.
     *
     * @param isolation with which the mirror reads
     */
    public void ask(Admin source, IsolationLevel isolation, Collection<TopicPartition> paused, long nowNanos) {
        ends.keySet().retainAll(paused);
        if (paused.isEmpty()) {
            return;
        }
        ListOffsetsResult result = source.listOffsets(
                Clusters.specs(paused, OffsetSpec.latest()), new ListOffsetsOptions(isolation).timeoutMs(TIMEOUT_MS));
        for (TopicPartition partition : paused) {
            result.partitionResult(partition).whenComplete((end, failure) -> {
                if (failure == null) { // else the last one grows old
                    ends.put(partition, new End(end.offset(), nowNanos));
                }
            });
        }
    }

    /** As of the last answer; empty before the first since the pause. */
    public OptionalLong of(TopicPartition partition) {
        End end = ends.get(partition);
        return end == null ? OptionalLong.empty() : OptionalLong.of(end.offset);
    }

    public boolean isCurrent(TopicPartition partition, long nowNanos) {
        End end = ends.get(partition);
        return end != null && nowNanos - end.askedNanos <= CURRENT_NANOS;
    }
}
