package dev.millrace.race;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serializer;

/**
 * A producer that sends nothing, keeps nothing, and acknowledges every record at once. What a racer uses with it is the
 * cost of the load: of threads that sleep until a send is due, of the callbacks and of the measurement.
 *
 * <p><b>Threads:</b> any.
 */
@SuppressWarnings("UnsynchronizedOverridesSynchronized") // It has no state.
final class LoadProducer extends MockProducer<byte[], byte[]> {
    private static final RecordMetadata METADATA =
            new RecordMetadata(new TopicPartition(RaceBrokers.TOPIC, 0), 0, 0, 0, 0, 0);
    private static final Future<RecordMetadata> ACKNOWLEDGED = CompletableFuture.completedFuture(METADATA);

    /** What {@link Racer} passes to the constructor of every producer; nothing is used. */
    public LoadProducer(Map<String, Object> config, Serializer<byte[]> keys, Serializer<byte[]> values) {}

    @Override
    public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record) {
        return send(record, null);
    }

    @Override
    public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, Callback callback) {
        if (callback != null) {
            callback.onCompletion(METADATA, null);
        }
        return ACKNOWLEDGED;
    }
}
