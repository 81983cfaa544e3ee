package dev.millrace.mirror;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The {@link AckedPrefix} of each partition that a consumer thread owns, and those that it has given up while the producer
 * still holds records of them: these are counted until their outcome is known, and never committed.
 *
 * <p><b>Threads:</b> the consumer thread.
 * <p><b>Ordering:</b> see {@link AckedPrefix} and {@link ThreadCounters}.
 */
final class AckedPrefixes {
    private static final Logger LOG = LoggerFactory.getLogger(AckedPrefixes.class);
    private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final java.util.function.Consumer<MirrorException> onFailure;
    private final UnaryOperator<OffsetAndMetadata> withMark;
    private final ThreadCounters counters;
    private final MirrorObserver observer;
    private final Map<TopicPartition, AckedPrefix> owned = new HashMap<>();
    private final List<GivenUp> givenUp = new ArrayList<>();

    private record GivenUp(TopicPartition partition, AckedPrefix prefix) {}

    /**
     * @param onFailure told of every record of an owned partition that could not be written, in the thread that completes
     *     it; must not block
     * @param withMark makes of a position what is committed
     */
    AckedPrefixes(
            java.util.function.Consumer<MirrorException> onFailure,
            UnaryOperator<OffsetAndMetadata> withMark,
            ThreadCounters counters,
            MirrorObserver observer) {
        this.onFailure = onFailure;
        this.withMark = withMark;
        this.counters = counters;
        this.observer = observer;
    }

    void add(TopicPartition partition) {
        owned.put(partition, new AckedPrefix(partition, onFailure));
    }

    AckedPrefix get(TopicPartition partition) {
        return owned.get(partition);
    }

    Set<TopicPartition> partitions() {
        return owned.keySet();
    }

    /** Takes in the outcomes that have come since the last call. */
    void advance() {
        long acked = 0;
        for (Map.Entry<TopicPartition, AckedPrefix> entry : owned.entrySet()) {
            AckedPrefix prefix = entry.getValue();
            long more = prefix.advance();
            if (more > 0) {
                acked += more;
                observer.onAcknowledged(entry.getKey(), prefix.position().offset());
            }
        }
        for (Iterator<GivenUp> left = givenUp.iterator(); left.hasNext(); ) {
            GivenUp next = left.next();
            acked += next.prefix().advance();
            if (!next.prefix().isAwaited()) {
                left.remove();
                drop(next);
            }
        }
        counters.addAcked(acked);
    }

    /** The number of records whose outcome the last {@link #advance} did not see, of all partitions. */
    long outstanding() {
        long owns = owned.values().stream().mapToLong(AckedPrefix::outstanding).sum();
        return owns
                + givenUp.stream()
                        .mapToLong(next -> next.prefix().outstanding())
                        .sum();
    }

    /**
     * Waits until all records of the partitions are acknowledged, or those before the first that could not be written.
     *
     * @return the partitions of which records are still outstanding at the deadline
     */
    List<TopicPartition> await(Collection<TopicPartition> partitions, long deadlineNanos) {
        advance();
        List<TopicPartition> left = awaited(partitions);
        while (!left.isEmpty() && System.nanoTime() < deadlineNanos) {
            LockSupport.parkNanos(CHECK_NANOS);
            advance();
            left = awaited(partitions);
        }
        return left;
    }

    /** Those of the partitions that have outstanding records. */
    List<TopicPartition> awaited(Collection<TopicPartition> partitions) {
        return partitions.stream()
                .filter(partition ->
                        owned.containsKey(partition) && owned.get(partition).isAwaited())
                .toList();
    }

    /** What may be committed of the partitions. */
    Map<TopicPartition, OffsetAndMetadata> positions(Collection<TopicPartition> partitions) {
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        for (TopicPartition partition : partitions) {
            AckedPrefix prefix = owned.get(partition);
            if (prefix != null && prefix.position() != null) {
                positions.put(partition, withMark.apply(prefix.position()));
            }
        }
        return positions;
    }

    /** Owns the partitions no more. What is outstanding of them fails nobody from now on. */
    void giveUp(Collection<TopicPartition> partitions) {
        for (TopicPartition partition : partitions) {
            AckedPrefix prefix = owned.remove(partition);
            if (prefix != null) {
                prefix.giveUp();
                givenUp.add(new GivenUp(partition, prefix));
            }
        }
        advance();
    }

    /** Owns nothing more. Records of owned partitions without an outcome stay counted as in flight. */
    void clear() {
        owned.clear();
        givenUp.forEach(next -> counters.addDropped(next.prefix().outstanding()));
        givenUp.clear();
    }

    private void drop(GivenUp done) {
        long left = done.prefix().outstanding();
        if (left > 0) {
            counters.addDropped(left);
            LOG.warn(
                    "The target has refused records of {} that were in flight when the partition was given up",
                    done.partition());
        }
    }
}
