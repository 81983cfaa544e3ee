package dev.millrace.client.raw;

import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.apache.kafka.clients.producer.Producer;

/**
 * Writes encoded records and whole batches through a {@code MillraceProducer}, beside the records that are sent with
 * it, and over the same connections. Closing and flushing are the producer's.
 *
 * <p>{@code MillraceProducer} registers how one is made of it; so its public API need not name this package.
 *
 * <p><b>Threads:</b> any.
 * <p><b>Ordering:</b> {@code access} is volatile, and written when the class {@code MillraceProducer} is initialized,
 * before there is an instance of it.
 */
public abstract class RawProducer {
    private static volatile Function<Producer<?, ?>, RawProducer> access = producer -> null;

    /**
     * The raw side of a producer.
     *
     * @throws IllegalArgumentException it is no {@code MillraceProducer}
     */
    public static RawProducer of(Producer<byte[], byte[]> producer) {
        RawProducer raw = access.apply(producer);
        if (raw == null) {
            throw new IllegalArgumentException(
                    "Raw records need a MillraceProducer; this is " + (producer == null ? null : producer.getClass()));
        }
        return raw;
    }

    /** For {@code MillraceProducer} only: what makes a raw producer, or null of a producer of another class. */
    public static void setAccess(Function<Producer<?, ?>, RawProducer> rawOrNull) {
        access = rawOrNull;
    }

    /**
     * A partition to write to; it may be kept as long as the producer lives. Blocks at most {@code max.block.ms}
     * milliseconds, and only if the topic or the partition is unknown.
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
     * As {@link #partition}, but what is written there never waits: without memory it is refused at once with a {@link
     * org.apache.kafka.clients.producer.BufferExhaustedException}.
     */
    public abstract RawPartition partitionWithoutWaiting(String topic, int partition);

    /**
     * As {@link RawPartition#withdraw}, also if the cluster no longer has the topic, whose records are tried again until
     * somebody creates it. Does not block.
     *
     * @return completes when nothing is in flight; it is complete if nothing was ever written to the partition
     */
    public abstract CompletableFuture<Void> withdraw(String topic, int partition, RuntimeException cause);

    /**
     * Asks the cluster for these topics, in few requests, and does not wait: {@link #partition} is to find them known.
     */
    public abstract void requestTopics(Collection<String> topics);

    /** Whether batches have a producer id and sequences: {@code enable.idempotence}. */
    public abstract boolean isIdempotent();

    /** The producer's own id and epoch; null as long as the cluster has not given it one. */
    public abstract RawProducerId idOrNull();
}
