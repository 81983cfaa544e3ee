package dev.millrace.mirror.status;

import java.util.Set;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * A mirror calls this while it works, to report its progress or to measure it.
 *
 * <p><b>Threads:</b> the thread that runs the mirror calls {@link #onStarted}, {@link #createSender}, {@link
 * #onProgress} and {@link #onFinished}; the members' threads call the others, several at once. No method may block.
 */
public interface MirrorObserver {
    /** Sends the records of one member's thread. */
    @FunctionalInterface
    interface Sender {
        void send(ProducerRecord<byte[], byte[]> record, Callback callback);
    }

    /** Both clusters have answered, and the mirror starts to copy these topics. */
    default void onStarted(Set<String> topics) {}

    /** Creates the sender of one member's thread, which no other thread uses. */
    default Sender createSender(Producer<byte[], byte[]> producer) {
        return (record, callback) -> {
            Future<?> unused = producer.send(record, callback); // The callback gets the same outcome.
        };
    }

    /** A poll returned this many records; none of them has been sent yet. */
    default void onPolled(int records) {}

    /** The target has acknowledged all records of a source partition below the offset. */
    default void onAcknowledged(TopicPartition partition, long offset) {}

    /**
     * Called about once a second with what has been done so far.
     *
     * @param catchUpSeconds as {@link MirrorStatus#catchUpSeconds}
     */
    default void onProgress(MirrorTotals totals, double catchUpSeconds) {}

    /** Called at the end with what has been done in total, also after a failure. */
    default void onFinished(MirrorTotals totals) {}
}
