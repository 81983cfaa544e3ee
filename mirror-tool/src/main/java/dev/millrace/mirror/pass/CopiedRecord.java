package dev.millrace.mirror.pass;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Turns a record of the source into the record sent to the target, where batches are not passed. */
public final class CopiedRecord {
    private CopiedRecord() {}

    /**
     * Returns the record for this topic, with everything but its offset.
     *
     * @param topic of the target
     */
    public static ProducerRecord<byte[], byte[]> of(ConsumerRecord<byte[], byte[]> record, String topic) {
        // Records of the oldest format have no timestamp; the target gives them one.
        Long timestamp = record.timestamp() < 0 ? null : record.timestamp();
        return new ProducerRecord<>(
                topic, record.partition(), timestamp, record.key(), record.value(), record.headers());
    }

    /** Returns how many bytes its key and its value have. */
    public static long size(ConsumerRecord<byte[], byte[]> record) {
        return (long) Math.max(0, record.serializedKeySize()) + Math.max(0, record.serializedValueSize());
    }
}
