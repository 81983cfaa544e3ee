package dev.millrace.mirror.progress;

import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A member's partitions that have no position and whose start is not known yet. The source is asked again after a
 * second: with {@code auto.offset.reset=latest}, records written in between are not copied.
 *
 * <p><b>Threads:</b> the member's.
 */
public final class UnplacedPartitions {
    private static final Logger LOG = LoggerFactory.getLogger(UnplacedPartitions.class);
    private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Set<TopicPartition> partitions = new HashSet<>();
    private long askedNanos;

    /** Notes which of the partitions that were asked for have a position now. */
    public void onAsked(Collection<TopicPartition> asked, Set<TopicPartition> placed) {
        Set<TopicPartition> left = new HashSet<>(asked);
        left.removeAll(placed);
        if (partitions.addAll(left)) {
            LOG.warn(
                    "It is not known yet where to begin with {}: they have no leader that tells it, or the group is"
                            + " assigning its partitions; others are copied meanwhile, and these as soon as it is known",
                    left);
        }
        partitions.removeAll(placed);
        askedNanos = System.nanoTime();
    }

    /** Returns the partitions to ask about now. */
    public Set<TopicPartition> due(long nowNanos) {
        return isTooEarly(nowNanos) ? Set.of() : partitions();
    }

    /** Whether the partition has no start yet and it is too early to ask for it. */
    public boolean isTooEarly(TopicPartition partition, long nowNanos) {
        return partitions.contains(partition) && isTooEarly(nowNanos);
    }

    private boolean isTooEarly(long nowNanos) {
        return nowNanos - askedNanos < AGAIN_NANOS;
    }

    public Set<TopicPartition> partitions() {
        return Set.copyOf(partitions);
    }

    public void remove(Collection<TopicPartition> gone) {
        partitions.removeAll(gone);
    }
}
