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
 * Knows where paused partitions end on the source. Nothing fetches them, so nothing else shows their growth.
 *
 * <p><b>Threads:</b> one timer asks, a thread of the admin client writes, any thread reads.
 */
public final class PausedEnds {
    private static final long CURRENT_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** The limit keeps few questions open at a time while the source does not answer. */
    private static final int TIMEOUT_MS = 5_000;

    private final Map<TopicPartition, End> ends = new ConcurrentHashMap<>();

    private record End(long offset, long askedNanos) {}

    /**
     * Asks the source for these partitions and forgets all others. Call it about once a second. Does not block.
     *
     * @param isolation the isolation level with which the mirror reads
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
                if (failure == null) { // otherwise the last answer ages
                    ends.put(partition, new End(end.offset(), nowNanos));
                }
            });
        }
    }

    /** Returns the end as of the last answer; empty before the first since the pause. */
    public OptionalLong of(TopicPartition partition) {
        End end = ends.get(partition);
        return end == null ? OptionalLong.empty() : OptionalLong.of(end.offset);
    }

    public boolean isCurrent(TopicPartition partition, long nowNanos) {
        End end = ends.get(partition);
        return end != null && nowNanos - end.askedNanos <= CURRENT_NANOS;
    }
}
