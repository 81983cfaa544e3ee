package dev.millrace.mirror.progress;

import dev.millrace.mirror.text.MirrorException;
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
 * Commits a consumer's offsets, each only once. An offset that the source has confirmed is not sent again, because the
 * source may be down by then.
 *
 * <p><b>Threads:</b> the member's thread.
 */
public final class OffsetCommits {
    private static final Logger LOG = LoggerFactory.getLogger(OffsetCommits.class);
    /** A commit takes milliseconds; a slower one may contain a partition that was deleted. */
    private static final long FIRST_ATTEMPT_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Consumer<?, ?> consumer;
    private final SourceTopics source;
    private final java.util.function.Consumer<Map<TopicPartition, OffsetAndMetadata>> onCommitted;
    private final Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>();
    private int inFlight;

    /** @param onCommitted receives what the source has confirmed */
    public OffsetCommits(
            Consumer<?, ?> consumer,
            SourceTopics source,
            java.util.function.Consumer<Map<TopicPartition, OffsetAndMetadata>> onCommitted) {
        this.onCommitted = onCommitted;
        this.consumer = consumer;
        this.source = source;
    }

    /** Returns the positions that the source has not confirmed yet. */
    public Map<TopicPartition, OffsetAndMetadata> uncommitted(Map<TopicPartition, OffsetAndMetadata> positions) {
        Map<TopicPartition, OffsetAndMetadata> left = new HashMap<>(positions);
        left.entrySet().removeIf(entry -> entry.getValue().equals(committed.get(entry.getKey())));
        return left;
    }

    /** Sends the positions without waiting for the answer, unless an earlier answer is still awaited. */
    public void commitInBackground(Map<TopicPartition, OffsetAndMetadata> positions) {
        Map<TopicPartition, OffsetAndMetadata> left = uncommitted(positions);
        if (inFlight == 0) {
            for (Map<TopicPartition, OffsetAndMetadata> part : CommitParts.of(left)) {
                inFlight++;
                consumer.commitAsync(part, this::onCompletion);
            }
        }
    }

    private void onCompletion(Map<TopicPartition, OffsetAndMetadata> positions, Exception failure) {
        inFlight--;
        if (failure == null) {
            onConfirmed(positions);
        } else if (failure instanceof RebalanceInProgressException) {
            LOG.debug("Commit put off by a rebalance");
        } else {
            LOG.warn("Could not commit, will try again: {}", MirrorException.reason(failure));
        }
    }

    /**
     * Commits the positions. Blocks until the source has confirmed them, until 2 s after the deadline at most.
     *
     * @return partitions that the source no longer has; only their positions are not committed
     * @throws TimeoutException when the source does not confirm in time
     * @throws RebalanceInProgressException when the consumer must poll first, to take part in a rebalance
     */
    public Set<TopicPartition> commit(Map<TopicPartition, OffsetAndMetadata> positions, long deadlineNanos) {
        Map<TopicPartition, OffsetAndMetadata> left = uncommitted(positions);
        Set<TopicPartition> gone = new HashSet<>();
        long attemptNanos = FIRST_ATTEMPT_NANOS;
        while (!left.isEmpty()) {
            try {
                long rest = Math.max(FIRST_ATTEMPT_NANOS, deadlineNanos - System.nanoTime());
                Duration timeout = Duration.ofNanos(Math.min(attemptNanos, rest));
                for (Map<TopicPartition, OffsetAndMetadata> part : CommitParts.of(left)) {
                    consumer.commitSync(part, timeout);
                    onConfirmed(part);
                    left.keySet().removeAll(part.keySet());
                }
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

    private void onConfirmed(Map<TopicPartition, OffsetAndMetadata> positions) {
        committed.putAll(positions);
        onCommitted.accept(positions);
    }

    /** Forgets what was committed of these partitions: another member commits them from now on. */
    public void forget(Collection<TopicPartition> partitions) {
        committed.keySet().removeAll(partitions);
    }
}
