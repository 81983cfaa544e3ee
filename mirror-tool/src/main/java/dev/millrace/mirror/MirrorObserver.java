package dev.millrace.mirror;

import java.util.Set;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * Sees a mirror at work, to tell of it or to measure it.
 *
 * <p><b>Threads:</b> the one that runs the mirror calls {@link #onStarted}, {@link #createSender}, {@link #onProgress} and {@link
 * #onFinished}; the consumer threads call the others, all of them at once. Nothing here may block.
 */
public interface MirrorObserver {
    /** What a consumer thread sends with. */
    @FunctionalInterface
    interface Sender {
        void send(ProducerRecord<byte[], byte[]> record, Callback callback);
    }

    /** Both clusters have answered, and these topics will be mirrored. */
    default void onStarted(Set<String> topics) {}

    /** The way to the producer for one more consumer thread, whose own it will be. */
    default Sender createSender(Producer<byte[], byte[]> producer) {
        return (record, callback) -> {
            Future<?> unused = producer.send(record, callback); // The callback tells the same.
        };
    }

    /** A poll returned this many records, none of which has been sent yet. */
    default void onPolled(int records) {}

    /** All records of a source partition below the offset have been acknowledged by the target. */
    default void onAcknowledged(TopicPartition partition, long offset) {}

    /** What has been done so far; about once a second. */
    default void onProgress(MirrorTotals totals) {}

    /** What has been done in all; also after a failure. */
    default void onFinished(MirrorTotals totals) {}
}
