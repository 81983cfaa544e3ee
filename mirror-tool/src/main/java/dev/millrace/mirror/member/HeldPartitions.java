package dev.millrace.mirror.member;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;

/**
 * Partitions that are left out of transactions for a while, longer each time, because the target took nothing of them
 * and their transaction waited.
 *
 * <p><b>Threads:</b> the member's thread.
 */
final class HeldPartitions {
    private static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final Map<TopicPartition, Hold> holds = new HashMap<>();

    private record Hold(long untilNanos, long nanos) {}

    void hold(Collection<TopicPartition> partitions, long nowNanos) {
        for (TopicPartition partition : partitions) {
            Hold before = holds.get(partition);
            long nanos = before == null ? FIRST_NANOS : Math.min(LONGEST_NANOS, 2 * before.nanos);
            holds.put(partition, new Hold(nowNanos + nanos, nanos));
        }
    }

    boolean isHeld(TopicPartition partition, long nowNanos) {
        Hold hold = holds.get(partition);
        return hold != null && nowNanos - hold.untilNanos < 0;
    }

    /** To be called when the target takes these again, or another member owns them. */
    void release(Collection<TopicPartition> partitions) {
        holds.keySet().removeAll(partitions);
    }
}
