package dev.millrace.mirror.fetch;

import org.apache.kafka.common.TopicPartition;

/**
 * Takes what the fetcher brings.
 *
 * <p><b>Threads:</b> the fetch thread calls it; no method may block, or all partitions wait.
 */
public interface FetchSink {
    /** Takes the next batches of a partition; {@code fetched} must be released once, by any thread. */
    void onFetched(FetchedBatches fetched);

    /**
     * The position of a partition was moved by {@code auto.offset.reset}, or back to where its log was truncated. What
     * is fetched next begins at {@code to}.
     */
    void onOffsetReset(TopicPartition partition, long from, long to, String cause);

    /**
     * A partition cannot be fetched; null if this concerns all of them.
     *
     * <p>A {@link org.apache.kafka.common.errors.RetriableException} is told once, and the fetcher goes on trying. Any
     * other stops the partition until it is assigned again. With {@link
     * org.apache.kafka.common.errors.InconsistentTopicIdException} the topic was deleted and created again, so the
     * position means nothing; unless metadata takes it back, the partition waits to be assigned anew. With null, any but an {@code ApiException} has ended the
     * fetch thread.
     */
    void onFailure(TopicPartition partitionOrNull, Throwable failure);

    /** {@link #maxAhead} of a partition that only the fetcher's memory bounds. */
    int UNLIMITED = Integer.MAX_VALUE;

    /**
     * How many bytes of the partition to fetch before those fetched earlier are released; 0: nothing at all for now.
     * After a change {@link Fetcher#refresh} is to be called.
     */
    default int maxAhead(TopicPartition partition) {
        return UNLIMITED;
    }
}
