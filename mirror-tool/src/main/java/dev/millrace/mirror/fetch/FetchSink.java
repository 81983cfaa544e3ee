package dev.millrace.mirror.fetch;

import org.apache.kafka.common.TopicPartition;

/**
 * Receives what the fetcher reads.
 *
 * <p><b>Threads:</b> the fetch thread calls it; no method may block, or all partitions wait.
 */
public interface FetchSink {
    /** Takes the next batches of a partition; any thread must release {@code fetched} once. */
    void onFetched(FetchedBatches fetched);

    /**
     * The position of a partition was moved by {@code auto.offset.reset}, or back to where its log was truncated. What
     * is fetched next begins at {@code to}.
     */
    void onOffsetReset(TopicPartition partition, long from, long to, String cause);

    /**
     * A partition cannot be fetched; null if this concerns all partitions.
     *
     * <p>A {@link org.apache.kafka.common.errors.RetriableException} is reported once, and the fetcher keeps trying.
     * Any other failure stops the partition until it is assigned again. With {@link
     * org.apache.kafka.common.errors.InconsistentTopicIdException} the topic was deleted and created again, so the
     * position means nothing; unless later metadata contradicts it, the partition waits to be assigned again. With
     * null, any failure but an {@code ApiException} has ended the fetch thread.
     */
    void onFailure(TopicPartition partitionOrNull, Throwable failure);

    /** The {@link #maxAhead} of a partition that only the fetcher's memory bounds. */
    int UNLIMITED = Integer.MAX_VALUE;

    /**
     * Returns how many bytes of the partition to fetch before those fetched earlier are released; 0 fetches nothing for
     * now. After a change, call {@link Fetcher#refresh}.
     */
    default int maxAhead(TopicPartition partition) {
        return UNLIMITED;
    }
}
