package dev.millrace.client.raw;

import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.apache.kafka.clients.producer.Producer;

/**
 * Writes encoded records and whole batches through a {@code MillraceProducer}, beside the records that are sent with it
 * and over the same connections. Close and flush the producer itself.
 *
 * <p>{@code MillraceProducer} registers how to create one from it, so its public API need not name this package.
 *
 * <p><b>Threads:</b> any.
 * <p><b>Ordering:</b> {@code access} is volatile, and written when the class {@code MillraceProducer} is initialized,
 * before there is an instance of it.
 */
public abstract class RawProducer {
    private static volatile Function<Producer<?, ?>, RawProducer> access = producer -> null;

    /**
     * Returns the raw side of a producer.
     *
     * @throws IllegalArgumentException it is not a {@code MillraceProducer}
     */
    public static RawProducer of(Producer<byte[], byte[]> producer) {
        RawProducer raw = access.apply(producer);
        if (raw == null) {
            throw new IllegalArgumentException(
                    "Raw records need a MillraceProducer; this is " + (producer == null ? null : producer.getClass()));
        }
        return raw;
    }

    /** For {@code MillraceProducer} only: sets what creates a raw producer, or null for a producer of another class. */
    public static void setAccess(Function<Producer<?, ?>, RawProducer> rawOrNull) {
        access = rawOrNull;
    }

    /**
     * Returns a partition to write to; it may be kept as long as the producer lives. Blocks at most {@code
     * max.block.ms} milliseconds, and only if the topic or the partition is unknown.
     *
     * @throws IllegalArgumentException the partition is negative
     * @throws org.apache.kafka.common.errors.TimeoutException topic or partition are still unknown after that time
     * @throws org.apache.kafka.common.errors.InvalidTopicException the topic's name is not valid
     * @throws org.apache.kafka.common.errors.TopicAuthorizationException the producer may not see the topic
     * @throws org.apache.kafka.common.errors.InterruptException interrupted while blocked
     * @throws org.apache.kafka.common.KafkaException asking the cluster failed for good, or the producer is closed
     */
    public abstract RawPartition partition(String topic, int partition);

    /**
     * Does the same as {@link #partition}, but writes to the result never wait: without memory they are refused at once
     * with a {@link org.apache.kafka.clients.producer.BufferExhaustedException}.
     */
    public abstract RawPartition partitionWithoutWaiting(String topic, int partition);

    /**
     * Does the same as {@link RawPartition#withdraw}, even if the cluster no longer has the topic, whose records are
     * otherwise retried until the topic is created. Does not block.
     *
     * @return completes when nothing is in flight; it is complete if nothing was ever written to the partition
     */
    public abstract CompletableFuture<Void> withdraw(String topic, int partition, RuntimeException cause);

    /**
     * From now on, if a record fails, all later ones of its partition fail with the same cause, and those in flight are
     * not sent again, until the partition's records are withdrawn. Without this, later records go on, as with {@code
     * KafkaProducer}; whoever then sends the failed one again writes it after them. Records of {@code send} are
     * included.
     */
    public abstract void stopPartitionsAtFailures();

    /**
     * Asks the cluster for these topics, in few requests, and does not wait, so that {@link #partition} finds them
     * known.
     */
    public abstract void requestTopics(Collection<String> topics);

    /** Whether batches have a producer id and sequences: {@code enable.idempotence}. */
    public abstract boolean isIdempotent();

    /** Returns the producer's own id and epoch; null until the cluster has given it one. */
    public abstract RawProducerId idOrNull();
}
