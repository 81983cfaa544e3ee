package dev.millrace.mirror.fetch;

import dev.millrace.client.io.Backoff;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.UnknownServerException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports failures to the sink, a lasting one only once.
 *
 * <p><b>Threads:</b> the fetch thread.
 */
final class PartitionFailures {
    private static final Logger log = LoggerFactory.getLogger(PartitionFailures.class);

    private final FetchSink sink;
    private final Backoff backoff;

    PartitionFailures(FetchSink sink, Backoff backoff) {
        this.sink = sink;
        this.backoff = backoff;
    }

    /** Whether another attempt may succeed. Brokers say "unknown server error" for anything they did not foresee. */
    static boolean mayPass(KafkaException failure) {
        return failure instanceof RetriableException || failure instanceof UnknownServerException;
    }

    long backoffMs(int failuresInARow) {
        return Math.max(1, backoff.delayMs(failuresInARow));
    }

    /** Reports a failure, unless the partition has failed since its last success. */
    void tellOnce(FetchPartition partition, Throwable failure) {
        if (!partition.told) {
            partition.told = true;
            tell(partition, failure);
        }
    }

    void tell(FetchPartition partition, Throwable failure) {
        log.warn(
                "Fetching {} at offset {} failed: {}",
                partition.topicPartition(),
                partition.offset(),
                failure.toString());
        sink.onFailure(partition.topicPartition(), failure);
    }
}
