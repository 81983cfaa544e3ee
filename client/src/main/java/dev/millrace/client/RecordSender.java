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
 * Carries out {@code send}: takes a record from its caller to the open batch of its partition, or refuses it.
 *
 * <p><b>Threads:</b> any; {@code append} and {@code fail}, for records that waited, by the first I/O thread. Takes no
 * lock, and does not block while the topic is known and memory is available.
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

    /** The transactions; null without {@code transactional.id}. */
    private final TransactionState transactions;

    /** The records that wait for their topic; null if {@code send} may block for metadata. */
    private final WaitingRecords<K, V> waiting;

    private volatile boolean closing;
    private final long maxBlockMs;
    private final RecordSizeLimit limit;

    /** A record smaller than this needs no exact check. */
    private final long smallestLimit;

    /** If {@code mayBlock}, the caller of {@code send} waits until the topic is known; otherwise the record waits. */
    RecordSender(ProducerConfig config, SendContext<K, V> context, RecordSizeLimit limit, boolean mayBlock) {
        this.interceptors = context.interceptors();
        this.serializer = context.serializer();
        this.partitions = context.partitions();
        this.topics = context.topics();
        this.accumulator = context.accumulator();
        this.io = context.io();
        this.sensors = context.sensors();
        this.transactions = context.transactions();
        this.maxBlockMs = config.getLong(ProducerConfig.MAX_BLOCK_MS_CONFIG);
        this.limit = limit;
        this.smallestLimit = limit.smallest();
        this.waiting = mayBlock ? null : new WaitingRecords<>(accumulator, topics, this, maxBlockMs);
        if (waiting != null) {
            io.add(waiting);
        }
    }

    /** Does what {@link MillraceProducer#send(ProducerRecord, Callback)} says. */
    DeliveryFuture send(ProducerRecord<K, V> given, Callback callback) {
        ProducerRecord<K, V> record = interceptors.onSend(given);
        int partition = RecordMetadata.UNKNOWN_PARTITION;
        boolean isInTransaction = false;
        Exception failure;
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
            if (waiting != null && (topic == null || waiting.hasWaiting(record.topic()))) {
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
                queue.prefetch(); // the cache line arrives while the clock is read for the timestamp
            }
            EncodableRecord encodable = toEncodable(record, key, value, headers);
            partition = chosen;
            Callback wrapped = interceptors.wrap(callback, record.headers());
            RecordFuture future = queue == null ? null : queue.append(encodable, wrapped, Math.max(0, leftMs));
            if (future == null) {
                throw new KafkaException("Producer closed while send in progress", io.failure());
            }
            return future;
        } catch (ApiException e) {
            failure = e;
            if (isInTransaction) {
                transactions.onSendRefused(e);
            }
        } catch (InterruptedException | RuntimeException e) {
            failure = e;
        } finally {
            if (isInTransaction) {
                transactions.exitSend();
            }
        }
        // This follows exitSend(): callback and interceptors may abort the transaction, which waits for sends to leave
        // it.
        if (failure instanceof ApiException refusal) {
            return failRecord(record, partition, callback, refusal);
        }
        throw tellInterceptors(record, partition, failure);
    }

    /**
     * Returns the record to encode, with a timestamp. From here on its headers are read-only.
     *
     * @throws RecordTooLargeException it exceeds {@code max.request.size}, {@code millrace.max.record.size} or {@code
     *     buffer.memory}
     */
    private EncodableRecord toEncodable(ProducerRecord<K, V> record, byte[] key, byte[] value, byte[] headers) {
        ReadOnlyHeaders.markReadOnly(record.headers());
        long timestamp = record.timestamp() == null ? System.currentTimeMillis() : record.timestamp();
        EncodableRecord encodable = new EncodableRecord(timestamp, key, value, headers);
        throwIfTooLarge(encodable);
        return encodable;
    }

    // ---- with millrace.metadata.block=false ----

    private DeliveryFuture sendLater(ProducerRecord<K, V> record, Callback callback) {
        byte[] key = serializer.key(record);
        byte[] value = serializer.value(record);
        byte[] headers = RecordEncoder.encodeHeaders(record.headers().toArray());
        EncodableRecord shared = toEncodable(record, key, value, headers);
        EncodableRecord copied = shared.withOwnArrays();
        DeliveryFuture future = waiting.add(withCopiedArrays(record, shared, copied), copied, callback);
        if (future == null) {
            throw new KafkaException("Producer closed while send in progress", io.failure());
        }
        return future;
    }

    /**
     * Returns the record that a partitioner sees later. Its arrays are copies, because the caller may reuse its own
     * after {@code send}.
     */
    private ProducerRecord<K, V> withCopiedArrays(
            ProducerRecord<K, V> record, EncodableRecord shared, EncodableRecord copied) {
        K key = copyIfArray(record.key(), shared.key(), copied.key());
        V value = copyIfArray(record.value(), shared.value(), copied.value());
        if (key == record.key() && value == record.value()) {
            return record;
        }
        ProducerRecord<K, V> copy = new ProducerRecord<>(
                record.topic(), record.partition(), record.timestamp(), key, value, record.headers());
        ReadOnlyHeaders.markReadOnly(copy.headers());
        return copy;
    }

    /** Returns a copy of a {@code byte[]}; any other object unchanged, because only the application can copy it. */
    @SuppressWarnings("unchecked") // a copy has the type of the original
    private static <T> T copyIfArray(T given, byte[] serialized, byte[] copied) {
        if (given instanceof byte[] bytes) {
            return (T) (bytes == serialized ? copied : bytes.clone());
        }
        return given;
    }

    @Override
    public DeliveryFuture append(WaitingRecord<K, V> waited, ClusterImage image) {
        ProducerRecord<K, V> record = waited.record();
        TopicImage topic = image.topic(record.topic());
        if (waited.chosenPartition() < 0) {
            try {
                waited.setChosenPartition(choosePartition(waited, image));
            } catch (Throwable t) { // the application's partitioner must not stop the I/O thread
                return fail(waited, cannotBeSent(record, t));
            }
        }
        try {
            Callback wrapped = interceptors.wrap(waited.callback(), record.headers());
            RecordFuture future = accumulator.append(
                    topic.name(), topic.index(), waited.chosenPartition(), waited.encoded(), wrapped, 0);
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

    private int choosePartition(WaitingRecord<K, V> waited, ClusterImage image) {
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
            } catch (Throwable t) { // an Error of the application must not keep the other records from their outcome
                FailureLog.error(
                        log,
                        "The callback of a record for {} threw",
                        waited.record().topic(),
                        t);
            }
        };
        Integer partition = waited.record().partition();
        return failRecord(
                waited.record(),
                partition == null ? waited.chosenPartition() : partition,
                waited.callback() == null ? null : guarded,
                reason);
    }

    /** Blocks until each record that waits now is in a batch or has failed; returns false after {@code timeoutMs}. */
    boolean awaitWaitingRecords(long timeoutMs) throws InterruptedException {
        return waiting == null || waiting.awaitAll(timeoutMs);
    }

    /** Whether {@link #stopAccepting} has not been called yet. */
    boolean isAccepting() {
        return !closing;
    }

    /** Makes each later {@code send} throw; records that wait for their topic still go to their batches. */
    void stopAccepting() {
        closing = true;
    }

    /** Throws after {@link #stopAccepting}, and after the I/O threads have failed, which closes the accumulator. */
    void throwIfClosed() {
        if (closing || accumulator.isClosed()) {
            throw new IllegalStateException("Cannot perform operation after producer has been closed", io.failure());
        }
    }

    private void throwIfTooLarge(EncodableRecord record) {
        if (RecordEncoder.isSmallerThan(record, smallestLimit)) {
            return;
        }
        requireAllowed(RecordEncoder.batchSizeUpperBound(record), limit);
    }

    /**
     * @param size size of a batch with the record alone; {@code Integer.MAX_VALUE} also stands for everything above it
     */
    static void requireAllowed(int size, RecordSizeLimit limit) {
        if (size == Integer.MAX_VALUE) {
            throw new RecordTooLargeException(
                    "The message is " + size + " bytes or more when serialized, which no batch can hold.");
        }
        if (size > limit.bytes()) {
            throw new RecordTooLargeException("The message is " + size
                    + " bytes when serialized which is larger than " + limit.bytes()
                    + ", which is the value of the " + limit.setting() + " configuration.");
        }
        if (size > limit.memory()) {
            throw new RecordTooLargeException("The message is " + size
                    + " bytes when serialized which is larger than the total memory buffer of " + limit.memory()
                    + " bytes, the value of the buffer.memory configuration.");
        }
    }

    /**
     * Fails a record that has not reached a batch: runs its callback on the calling thread, counts it, and tells
     * interceptors. Throws what the callback throws; then nothing is counted, and interceptors are not told.
     *
     * @return a future that has failed
     */
    private DeliveryFuture failRecord(
            ProducerRecord<K, V> record, int partition, Callback callback, KafkaException reason) {
        TopicPartition where = new TopicPartition(record.topic(), partition);
        RecordMetadata nowhere = new RecordMetadata(where, -1, -1, NO_TIMESTAMP, -1, -1);
        DeliveryFuture failed = new FailedFuture(reason);
        FailureLog.debug(log, "A record for {} is refused", where, reason);
        if (callback != null) {
            DeliveryCallback.call(callback, nowhere, reason, DeliveryCertainty.NOT_PERSISTED);
        }
        countRefused(where, reason);
        interceptors.onRefused(record, where, reason);
        return failed;
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

    /** Tells interceptors, not the callback, of what send() throws, and returns that. Counts it if it is Kafka's. */
    private RuntimeException tellInterceptors(ProducerRecord<K, V> record, int partition, Exception reason) {
        RuntimeException toThrow = reason instanceof InterruptedException interrupt
                ? new InterruptException(interrupt)
                : (RuntimeException) reason;
        if (toThrow instanceof KafkaException) {
            sensors.onRefused();
        }
        TopicPartition where = record == null ? null : new TopicPartition(record.topic(), partition);
        interceptors.onRefused(record, where, reason);
        return toThrow;
    }
}
