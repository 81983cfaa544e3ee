package dev.millrace.mirror;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commits a consumer's offsets, each only once: what the source has confirmed is not sent again, for by then it may be
 * down.
 *
 * <p><b>Threads:</b> the consumer's.
 */
final class OffsetCommits {
    private static final Logger LOG = LoggerFactory.getLogger(OffsetCommits.class);
    /** A commit takes milliseconds; one that takes longer may contain a partition that has gone. */
    private static final long FIRST_ATTEMPT_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Consumer<?, ?> consumer;
    private final SourceTopics source;
    private final Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>();
    private boolean isInFlight;

    OffsetCommits(Consumer<?, ?> consumer, SourceTopics source) {
        this.consumer = consumer;
        this.source = source;
    }

    /** Those of the positions that the source has not confirmed yet. */
    Map<TopicPartition, OffsetAndMetadata> uncommitted(Map<TopicPartition, OffsetAndMetadata> positions) {
        Map<TopicPartition, OffsetAndMetadata> left = new HashMap<>(positions);
        left.entrySet().removeIf(entry -> entry.getValue().equals(committed.get(entry.getKey())));
        return left;
    }

    /** Sends the positions, and does not wait for the answer. */
    void commitInBackground(Map<TopicPartition, OffsetAndMetadata> positions) {
        Map<TopicPartition, OffsetAndMetadata> left = uncommitted(positions);
        if (!left.isEmpty() && !isInFlight) {
            isInFlight = true;
            consumer.commitAsync(left, this::onCompletion);
        }
    }

    private void onCompletion(Map<TopicPartition, OffsetAndMetadata> positions, Exception failure) {
        isInFlight = false;
        if (failure == null) {
            committed.putAll(positions);
        } else if (failure instanceof RebalanceInProgressException) {
            LOG.debug("Commit put off by a rebalance");
        } else {
            LOG.warn("Could not commit yet, will try again: {}", MirrorException.reason(failure));
        }
    }

    /**
     * Commits the positions; blocks until they are, or until the deadline and at most 2 s more.
     *
     * @return partitions that the source no longer has, whose positions are the only ones not committed
     * @throws TimeoutException when the source does not confirm in time
     * @throws RebalanceInProgressException when the consumer has to take part in a rebalance first
     */
    Set<TopicPartition> commit(Map<TopicPartition, OffsetAndMetadata> positions, long deadlineNanos) {
        Map<TopicPartition, OffsetAndMetadata> left = uncommitted(positions);
        Set<TopicPartition> gone = new HashSet<>();
        long attemptNanos = FIRST_ATTEMPT_NANOS;
        while (!left.isEmpty()) {
            try {
                long rest = Math.max(FIRST_ATTEMPT_NANOS, deadlineNanos - System.nanoTime());
                consumer.commitSync(left, Duration.ofNanos(Math.min(attemptNanos, rest)));
                committed.putAll(left);
                return gone;
            } catch (TimeoutException e) {
                Set<TopicPartition> missing = source.findMissing(left.keySet());
                if (missing.isEmpty() && System.nanoTime() >= deadlineNanos) {
                    throw e;
                }
                gone.addAll(missing);
                left.keySet().removeAll(missing);
                attemptNanos *= 2;
            }
        }
        return gone;
    }

    /** Somebody else commits the partitions from now on. */
    void forget(Collection<TopicPartition> partitions) {
        committed.keySet().removeAll(partitions);
    }
}
