package dev.millrace.client;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.EncodableRecord;
import dev.millrace.client.accumulator.RecordEncoder;
import dev.millrace.client.kafka.KafkaBridge;
import dev.millrace.client.kafka.ProducerSensors;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.TopicImage;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes one record from the caller of {@code send} to its partition's open batch, or refuses it.
 *
 * <p><b>Threads:</b> any. Without a lock, and without waiting while the topic is known and memory is at hand.
 */
final class RecordSender<K, V> {
    private static final Logger log = LoggerFactory.getLogger(RecordSender.class);

    private final RecordSerializer<K, V> serializer;
    private final PartitionChooser partitions;
    private final TopicLookup topics;
    private final Accumulator accumulator;
    private final ProducerSensors sensors;
    private final long maxBlockMs;
    private final int maxRequestSize;
    private final long totalMemory;

    RecordSender(
            ProducerConfig config,
            RecordSerializer<K, V> serializer,
            PartitionChooser partitions,
            TopicLookup topics,
            Accumulator accumulator,
            ProducerSensors sensors) {
        this.serializer = serializer;
        this.partitions = partitions;
        this.topics = topics;
        this.accumulator = accumulator;
        this.sensors = sensors;
        this.maxBlockMs = config.getLong(ProducerConfig.MAX_BLOCK_MS_CONFIG);
        this.maxRequestSize = config.getInt(ProducerConfig.MAX_REQUEST_SIZE_CONFIG);
        this.totalMemory = config.getLong(ProducerConfig.BUFFER_MEMORY_CONFIG);
    }

    /**
     * As {@link MillraceProducer#send(ProducerRecord, Callback)}.
     *
     * @return null when the producer is closed
     */
    Future<RecordMetadata> send(ProducerRecord<K, V> record, Callback callback) {
        int partition = record.partition() == null ? RecordMetadata.UNKNOWN_PARTITION : record.partition();
        try {
            long leftMs = maxBlockMs;
            ClusterImage image = topics.known(record.topic(), record.partition());
            if (image == null) {
                long startNs = System.nanoTime();
                image = topics.await(record.topic(), record.partition(), maxBlockMs);
                leftMs -= TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
            }
            TopicImage topic = image.topic(record.topic());
            byte[] key = serializer.key(record);
            byte[] value = serializer.value(record);
            byte[] headers = RecordEncoder.encodeHeaders(record.headers().toArray());
            partition = partitions.choose(record, key, value, headers.length, image, topic);
            KafkaBridge.setReadOnly(record.headers());
            long timestamp = record.timestamp() == null ? System.currentTimeMillis() : record.timestamp();
            EncodableRecord encodable = new EncodableRecord(timestamp, key, value, headers);
            throwIfTooLarge(encodable);
            return accumulator.append(
                    record.topic(), partition, topic.partitions(), encodable, callback, Math.max(0, leftMs));
        } catch (ApiException e) {
            return refuse(new TopicPartition(record.topic(), partition), callback, e);
        } catch (InterruptedException e) {
            sensors.onRefused();
            throw new InterruptException(e);
        } catch (KafkaException e) {
            sensors.onRefused();
            throw e;
        }
    }

    private void throwIfTooLarge(EncodableRecord record) {
        int size = RecordEncoder.batchSizeUpperBound(record);
        if (size > maxRequestSize) {
            throw new RecordTooLargeException("The message is " + size
                    + " bytes when serialized which is larger than " + maxRequestSize
                    + ", which is the value of the max.request.size configuration.");
        }
        if (size > totalMemory) {
            throw new RecordTooLargeException("The message is " + size
                    + " bytes when serialized which is larger than the total memory buffer of " + totalMemory
                    + " bytes, the value of the buffer.memory configuration.");
        }
    }

    private Future<RecordMetadata> refuse(TopicPartition partition, Callback callback, ApiException reason) {
        log.debug("A record for {} is refused", partition, reason);
        if (callback != null) {
            callback.onCompletion(
                    new RecordMetadata(partition, -1, -1, RecordMetadata.UNKNOWN_PARTITION, -1, -1), reason);
        }
        sensors.onRefused();
        if (reason instanceof BufferExhaustedException) {
            sensors.onMemoryExhausted();
        }
        return CompletableFuture.failedFuture(reason);
    }
}
