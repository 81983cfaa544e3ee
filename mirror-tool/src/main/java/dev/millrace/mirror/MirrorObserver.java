package dev.millrace.mirror;

import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * Sees a mirror at work, to measure it. Its methods are called by the consumer threads, by all of them at once, and must
 * not block.
 */
public interface MirrorObserver {
    /** Sees nothing. */
    MirrorObserver NONE = new MirrorObserver() {};

    /** What a consumer thread sends with. */
    @FunctionalInterface
    interface Sender {
        void send(ProducerRecord<byte[], byte[]> record, Callback callback);
    }

    /** The way to the producer for one more consumer thread; called before the thread starts. */
    default Sender sender(Producer<byte[], byte[]> producer) {
        return (record, callback) -> {
            Future<?> unused = producer.send(record, callback); // The callback tells the same.
        };
    }

    /** A poll returned records. */
    default void polled() {}

    /** All of a source partition's records below {@code offset} have been acknowledged by the target. */
    default void acknowledged(TopicPartition partition, long offset) {}
}
