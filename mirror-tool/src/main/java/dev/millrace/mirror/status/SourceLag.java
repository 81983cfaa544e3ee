package dev.millrace.mirror.status;

import java.util.Collection;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.TopicPartition;

/**
 * Measures how many records a consumer has not polled, as far as it knows. The consumer knows the end of a partition
 * from the last answer to a fetch, which may be old. So this class also checks that answers still arrive.
 *
 * <p><b>Threads:</b> the member's thread.
 */
public final class SourceLag {
    private final Consumer<?, ?> consumer;
    private Metric fetchTotal;
    private double answers;
    private long answeredNanos;

    public SourceLag(Consumer<?, ?> consumer, long nowNanos) {
        this.consumer = consumer;
        this.answeredNanos = nowNanos;
    }

    /**
     * Updates the number of unpolled records in the counters. Call it about once a second.
     *
     * @param unpolled unpolled records of a partition, if known
     * @param isNothingRead whether there is nothing to fetch, so no answer is expected
     * @param areAll whether the member has no partitions besides these
     */
    public void measure(
            Collection<TopicPartition> partitions,
            Function<TopicPartition, OptionalLong> unpolled,
            boolean isNothingRead,
            boolean areAll,
            ThreadCounters counters,
            long nowNanos) {
        double before = answers;
        answers = answers();
        if (answers != before || isNothingRead) {
            answeredNanos = nowNanos;
        }
        boolean complete = areAll
                && consumer.groupMetadata().generationId() >= 0
                && nowNanos - answeredNanos < ThreadCounters.FRESH_NANOS;
        long records = 0;
        for (TopicPartition partition : partitions) {
            OptionalLong lag = unpolled.apply(partition);
            records += lag.orElse(0);
            complete &= lag.isPresent();
        }
        counters.setUnpolled(records, complete, nowNanos);
    }

    /** Returns the number of fetches answered so far. */
    private double answers() {
        if (fetchTotal == null) {
            fetchTotal = consumer.metrics().entrySet().stream()
                    .filter(metric -> metric.getKey().name().equals("fetch-total"))
                    .map(Map.Entry::getValue)
                    .findAny()
                    .orElse(null);
        }
        return fetchTotal == null ? 0 : (double) fetchTotal.metricValue();
    }
}
