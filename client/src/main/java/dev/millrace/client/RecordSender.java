package dev.millrace.client;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.EncodableRecord;
import dev.millrace.client.accumulator.FailureLog;
import dev.millrace.client.accumulator.PartitionQueue;
import dev.millrace.client.accumulator.RecordEncoder;
import dev.millrace.client.accumulator.RecordFuture;
import dev.millrace.client.delivery.DeliveryCallback;
import dev.millrace.client.delivery.DeliveryCertainty;
import dev.millrace.client.delivery.DeliveryFuture;
import dev.millrace.client.io.IoThreads;
import dev.millrace.client.io.TransactionState;
import dev.millrace.client.kafka.Interceptors;
import dev.millrace.client.kafka.ProducerSensors;
import dev.millrace.client.kafka.ReadOnlyHeaders;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.TopicImage;
import dev.millrace.client.partitioner.PartitionChooser;
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
final class RecordSender<K, V> implements WaitingRecords.Sink<K, V> {
    private static final Logger log = LoggerFactory.getLogger(RecordSender.class);
    private static final long NO_TIMESTAMP = -1;

    private final Interceptors<K, V> interceptors;
    private final RecordSerializer<K, V> serializer;
    private final PartitionChooser partitions;
    private final TopicLookup topics;
    private final Accumulator accumulator;
    private final IoThreads io;
    private final ProducerSensors sensors;

    /** Null without {@code transactional.id}. */
    private final TransactionState transactions;

    /** Null if {@code send} may block for metadata. */
    private final WaitingRecords<K, V> waiting;

    private volatile boolean closing;
    private final long maxBlockMs;
    private final int maxRequestSize;
    private final long totalMemory;

    /** A record of fewer bytes is not too large. */
    private final long smallEnough;

    /** With {@code mayBlock} a caller waits until its record's topic is known, else the record does. */
    RecordSender(ProducerConfig config, SendContext<K, V> context, boolean mayBlock) {
        this.interceptors = context.interceptors();
        this.serializer = context.serializer();
        this.partitions = context.partitions();
        this.topics = context.topics();
        this.accumulator = context.accumulator();
        this.io = context.io();
        this.sensors = context.sensors();
        this.transactions = context.transactions();
        this.maxBlockMs = config.getLong(ProducerConfig.MAX_BLOCK_MS_CONFIG);
        this.maxRequestSize = config.getInt(ProducerConfig.MAX_REQUEST_SIZE_CONFIG);
        this.waiting = mayBlock ? null : new WaitingRecords<>(accumulator, topics, this, maxBlockMs);
        if (waiting != null) {
            io.add(waiting);
        }
        this.totalMemory = config.getLong(ProducerConfig.BUFFER_MEMORY_CONFIG);
        this.smallEnough = Math.min(maxRequestSize, totalMemory);
    }

    /** As {@link MillraceProducer#send(ProducerRecord, Callback)}. */
    Future<RecordMetadata> send(ProducerRecord<K, V> given, Callback callback) {
        ProducerRecord<K, V> record = interceptors.onSend(given);
        int partition = RecordMetadata.UNKNOWN_PARTITION;
        boolean isInTransaction = false;
        ApiException refusal;
        try {
            throwIfClosed();
            partition = record.partition() == null ? RecordMetadata.UNKNOWN_PARTITION : record.partition();
            if (transactions != null) {
                transactions.enterSend();
                isInTransaction = true;
            }
            long leftMs = maxBlockMs;
            ClusterImage image = topics.image();
            TopicImage topic = TopicLookup.known(image, record.topic(), record.partition());
            if (waiting != null && (topic == null || waiting.isBehind(record.topic()))) {
                return sendLater(record, callback);
            }
            if (topic == null) {
                long startNs = System.nanoTime();
                image = topics.await(record.topic(), record.partition(), maxBlockMs);
                topic = image.topic(record.topic());
                leftMs -= TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
            }
            byte[] key = serializer.key(record);
            byte[] value = serializer.value(record);
            byte[] headers = RecordEncoder.encodeHeaders(record.headers().toArray());
            int chosen = partitions.choose(record, key, value, headers.length, image, topic);
            PartitionQueue queue = accumulator.queue(topic.name(), topic.index(), chosen);
            if (queue != null) {
                queue.prefetch(); // a record without a timestamp has the clock read meanwhile
            }
            EncodableRecord encodable = encodable(record, key, value, headers);
            partition = chosen;
            Callback told = interceptors.before(callback, record.headers());
            RecordFuture future = queue == null ? null : queue.append(encodable, told, Math.max(0, leftMs));
            if (future == null) {
                throw new KafkaException("Producer closed while send in progress", io.failure());
            }
            return future;
        } catch (ApiException e) {
            refusal = e;
            if (isInTransaction) {
                transactions.recordFailed(e);
            }
        } catch (InterruptedException e) {
            throw noted(record, partition, e, new InterruptException(e));
        } catch (RuntimeException e) {
            throw noted(record, partition, e, e);
        } finally {
            if (isInTransaction) {
                transactions.exitSend();
            }
        }
        // Not before the send has left the transaction: the callback may abort it.
        return refuse(record, partition, callback, refusal);
    }

    private EncodableRecord encodable(ProducerRecord<K, V> record, byte[] key, byte[] value, byte[] headers) {
        ReadOnlyHeaders.set(record.headers());
        long timestamp = record.timestamp() == null ? System.currentTimeMillis() : record.timestamp();
        EncodableRecord encodable = new EncodableRecord(timestamp, key, value, headers);
        throwIfTooLarge(encodable);
        return encodable;
    }

    // ---- with millrace.metadata.block=false ----

    private Future<RecordMetadata> sendLater(ProducerRecord<K, V> record, Callback callback) {
        byte[] key = serializer.key(record);
        byte[] value = serializer.value(record);
        byte[] headers = RecordEncoder.encodeHeaders(record.headers().toArray());
        EncodableRecord callers = encodable(record, key, value, headers);
        EncodableRecord ours = callers.withOwnArrays();
        Future<RecordMetadata> future = waiting.add(withOwnArrays(record, callers, ours), ours, callback);
        if (future == null) {
            throw new KafkaException("Producer closed while send in progress", io.failure());
        }
        return future;
    }

    /** What a partitioner is to see later: the caller may use the arrays again as soon as {@code send} has returned. */
    private ProducerRecord<K, V> withOwnArrays(
            ProducerRecord<K, V> record, EncodableRecord callers, EncodableRecord ours) {
        K key = ownArray(record.key(), callers.key(), ours.key());
        V value = ownArray(record.value(), callers.value(), ours.value());
        if (key == record.key() && value == record.value()) {
            return record;
        }
        ProducerRecord<K, V> own = new ProducerRecord<>(
                record.topic(), record.partition(), record.timestamp(), key, value, record.headers());
        ReadOnlyHeaders.set(own.headers());
        return own;
    }

    /** The object itself unless it is an array: of other objects only the application knows how to copy them. */
    @SuppressWarnings("unchecked") // a copy has the type of the original
    private static <T> T ownArray(T given, byte[] serialized, byte[] ours) {
        if (given instanceof byte[] bytes) {
            return (T) (bytes == serialized ? ours : bytes.clone());
        }
        return given;
    }

    @Override
    public DeliveryFuture append(WaitingRecord<K, V> waited, ClusterImage image) {
        ProducerRecord<K, V> record = waited.record();
        TopicImage topic = image.topic(record.topic());
        if (waited.chosenPartition() < 0) {
            // What it throws must not stop the I/O thread, and all records with it.
            try {
                waited.choosePartition(choose(waited, image));
            } catch (Throwable t) { // the application's partitioner
                return fail(waited, cannotBeSent(record, t));
            }
        }
        try {
            Callback told = interceptors.before(waited.callback(), record.headers());
            RecordFuture future = accumulator.append(
                    topic.name(), topic.index(), waited.chosenPartition(), waited.encoded(), told, 0);
            if (future == null) {
                throw new KafkaException("Producer closed while send in progress", io.failure());
            }
            return future;
        } catch (BufferExhaustedException e) {
            throw e;
        } catch (Exception e) {
            return fail(waited, cannotBeSent(record, e));
        }
    }

    private int choose(WaitingRecord<K, V> waited, ClusterImage image) {
        ProducerRecord<K, V> record = waited.record();
        EncodableRecord encoded = waited.encoded();
        int headersSize = encoded.headers().length;
        return partitions.choose(
                record, encoded.key(), encoded.value(), headersSize, image, image.topic(record.topic()));
    }

    private static KafkaException cannotBeSent(ProducerRecord<?, ?> record, Throwable reason) {
        return reason instanceof KafkaException kafka
                ? kafka
                : new KafkaException("A record for topic " + record.topic() + " cannot be sent", reason);
    }

    @Override
    public DeliveryFuture fail(WaitingRecord<K, V> waited, KafkaException reason) {
        DeliveryCallback guarded = (metadata, error, certainty) -> {
            try {
                DeliveryCallback.call(waited.callback(), metadata, error, certainty);
            } catch (Throwable t) { // an Error of the application's code must not stop the other records
                FailureLog.error(
                        log,
                        "The callback of a record for {} threw",
                        waited.record().topic(),
                        t);
            }
        };
        Integer partition = waited.record().partition();
        return refuse(
                waited.record(),
                partition == null ? waited.chosenPartition() : partition,
                waited.callback() == null ? null : guarded,
                reason);
    }

    /** Blocks until every record sent before is in a batch or has failed; false if that takes longer. */
    boolean awaitWaiting(long timeoutMs) throws InterruptedException {
        return waiting == null || waiting.awaitSettled(timeoutMs);
    }

    /** Lets no further record in, while those that wait for their topic still go on to their batches. */
    void refuseMore() {
        closing = true;
    }

    /** Also once the I/O threads have failed, which close the accumulator then. */
    void throwIfClosed() {
        if (closing || accumulator.isClosed()) {
            throw new IllegalStateException("Cannot perform operation after producer has been closed", io.failure());
        }
    }

    private void throwIfTooLarge(EncodableRecord record) {
        if (RecordEncoder.isSmallerThan(record, smallEnough)) {
            return;
        }
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

    /** The future has failed already, and the calling thread runs the callback; only what that throws is thrown once it has run. */
    private DeliveryFuture refuse(
            ProducerRecord<K, V> record, int partition, Callback callback, KafkaException reason) {
        TopicPartition where = new TopicPartition(record.topic(), partition);
        RecordMetadata nowhere = new RecordMetadata(where, -1, -1, NO_TIMESTAMP, -1, -1);
        DeliveryFuture refused = new FailedFuture(reason);
        FailureLog.debug(log, "A record for {} is refused", where, reason);
        if (callback != null) {
            DeliveryCallback.call(callback, nowhere, reason, DeliveryCertainty.NOT_PERSISTED);
        }
        countRefused(where, reason);
        interceptors.onRefused(record, where, reason);
        return refused;
    }

    private void countRefused(TopicPartition where, Exception reason) {
        try {
            sensors.onRefused();
            if (reason instanceof BufferExhaustedException) {
                sensors.onMemoryExhausted();
            }
        } catch (Throwable t) {
            FailureLog.error(log, "Counting a refused record for {} failed", where, t);
        }
    }

    /** Known at once, and thrown: no callback, but interceptors see it. */
    private RuntimeException noted(
            ProducerRecord<K, V> record, int partition, Exception reason, RuntimeException toThrow) {
        if (toThrow instanceof KafkaException) {
            sensors.onRefused();
        }
        TopicPartition where = record == null ? null : new TopicPartition(record.topic(), partition);
        interceptors.onRefused(record, where, reason);
        return toThrow;
    }
}
