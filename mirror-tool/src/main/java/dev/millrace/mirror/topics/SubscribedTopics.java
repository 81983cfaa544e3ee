package dev.millrace.mirror.topics;

import dev.millrace.mirror.text.MirrorException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The topics that a group on the target divides among its members. They are topics of the source, under their source
 * names, as soon as the target has them with as many partitions.
 *
 * <p><b>Threads:</b> the thread of {@link TargetPartitions} calls {@link #refreshIfDue}; any thread calls the rest.
 * <p><b>Ordering:</b> an immutable map in a volatile field.
 */
public final class SubscribedTopics {
    private static final Logger LOG = LoggerFactory.getLogger(SubscribedTopics.class);

    private final Supplier<Map<String, Integer>> source;
    private final TargetPartitions.Preparation target;
    private final RefusedTopics refused;
    private final Consumer<Throwable> onFailure;
    private final long intervalNanos;
    private volatile Map<String, Integer> ready = Map.of();

    // Only the thread that refreshes uses it.
    private Map<String, Integer> seen = Map.of();
    private boolean isDone;
    private long refreshedNanos;

    /**
     * @param source the topics to mirror, with their partition counts
     * @param refused notified of topics that cannot have their names on the target
     * @param onFailure notified of failures that a retry cannot fix
     */
    public SubscribedTopics(
            Supplier<Map<String, Integer>> source,
            TargetPartitions.Preparation target,
            RefusedTopics refused,
            Consumer<Throwable> onFailure,
            Duration interval) {
        this.source = source;
        this.target = target;
        this.refused = refused;
        this.onFailure = onFailure;
        this.intervalNanos = TimeUnit.MILLISECONDS.toNanos(interval.toMillis()); // cannot overflow
    }

    /** Asks the source after the interval, or if the last attempt failed, and makes the target's topics ready. */
    public void refreshIfDue(long nowNanos) {
        if (isDone && nowNanos - refreshedNanos < intervalNanos) {
            return;
        }
        isDone = false;
        try {
            Map<String, Integer> found = source.get();
            found.forEach((topic, partitions) -> {
                if (partitions > seen.getOrDefault(topic, 0)) {
                    target.forget(topic);
                }
            });
            Map<String, MirrorException> failures = target.prepare(found.keySet());
            Map<String, Integer> usable = new HashMap<>(found);
            failures.keySet().forEach(topic -> usable.compute(topic, (unused, grown) -> seen.get(topic)));
            seen.keySet().stream()
                    .filter(topic -> !found.containsKey(topic))
                    .forEach(topic ->
                            LOG.warn("Topic {} has gone from the source; the mirror no longer copies it", topic));
            ready = Map.copyOf(usable);
            seen = ready;
            ready.keySet().forEach(refused::onTaken);
            isDone = failures.values().stream().allMatch(MirrorException::isOfName);
            refreshedNanos = nowNanos;
            failures.forEach(this::tell);
        } catch (KafkaException | MirrorException e) {
            LOG.debug("Could not ask for the topics to mirror; will try again", e);
        }
    }

    private void tell(String topic, MirrorException failure) {
        if (failure.isOfName()) {
            refused.onRefused(topic, failure.getMessage());
        } else if (!failure.isTemporary()) {
            onFailure.accept(failure);
        }
    }

    /** Returns the topics that can be mirrored now. */
    public Set<String> topics() {
        return ready.keySet();
    }

    /** Whether the source has this partition; the target may have more. */
    public boolean isOfSource(TopicPartition partition) {
        return partition.partition() < ready.getOrDefault(partition.topic(), 0);
    }
}
