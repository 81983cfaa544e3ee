package dev.millrace.client;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.io.IoThreads;
import dev.millrace.client.kafka.KafkaBridge;
import dev.millrace.client.kafka.KafkaVersion;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.serialization.Serializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A Kafka producer to be shared by many threads: {@link #send} takes no lock while the topic is known and memory is at
 * hand. It is constructed, configured and used like {@code KafkaProducer}; what it cannot do yet it refuses.
 *
 * <p><b>Threads:</b> all methods by any thread. Callbacks run on the I/O thread, those of one partition one at a time in
 * the order of offsets; a slow callback holds up everything behind it. What a callback or an interceptor throws there is logged, an
 * {@code Error} too, and changes nothing for any record.
 *
 * @param <K> type of the keys
 * @param <V> type of the values
 */
public final class MillraceProducer<K, V> implements Producer<K, V> {
    private static final Logger log = LoggerFactory.getLogger(MillraceProducer.class);
    private static final String IN_CALLBACK =
            "flush() was called in a callback: it would wait for the very thread that runs it";

    private final ProducerConfig config;
    private final RecordSender<K, V> sender;
    private final KafkaBridge kafka;
    private final ClusterImages images;
    private final TopicLookup topics;
    private final Accumulator accumulator;
    private final IoThreads io;
    private final TransactionApi transactionApi;

    /** What closing the application's objects has thrown, or null. */
    private final Supplier<KafkaException> closeFailure;

    /**
     * Connects in the background; only what is wrong with the configuration is found here.
     *
     * @param configs keys of {@link ProducerConfig}; serializers among them
     * @throws org.apache.kafka.common.config.ConfigException a key is wrong, or Millrace cannot honour it yet
     * @throws KafkaException the producer cannot be built from it
     */
    public MillraceProducer(Map<String, Object> configs) {
        this(configs, null, null);
    }

    /** As {@link #MillraceProducer(Map)}. */
    public MillraceProducer(Properties properties) {
        this(properties, null, null);
    }

    /** As {@link #MillraceProducer(Map)}, with serializers that are configured already; they are closed with it. */
    public MillraceProducer(Properties properties, Serializer<K> keySerializer, Serializer<V> valueSerializer) {
        this(toMap(properties), keySerializer, valueSerializer);
    }

    /** As {@link #MillraceProducer(Map)}, with serializers that are configured already; they are closed with it. */
    public MillraceProducer(Map<String, Object> configs, Serializer<K> keySerializer, Serializer<V> valueSerializer) {
        this(configs, keySerializer, valueSerializer, KafkaBridge::openLink);
    }

    /** As above, on another network: benchmarks leave it out. */
    MillraceProducer(
            Map<String, Object> configs,
            Serializer<K> keySerializer,
            Serializer<V> valueSerializer,
            ProducerParts.Network network) {
        KafkaVersion.check();
        config = ProducerSettings.parse(configs, keySerializer, valueSerializer);
        ProducerParts<K, V> parts = new ProducerParts<>(config, keySerializer, valueSerializer, network);
        kafka = parts.kafka;
        images = parts.images;
        topics = parts.topics;
        accumulator = parts.accumulator;
        io = parts.io;
        transactionApi = parts.transactions;
        sender = parts.sender;
        closeFailure = parts::closeFailure;
    }

    private static Map<String, Object> toMap(Properties properties) {
        Map<String, Object> map = new HashMap<>();
        properties.forEach((key, value) -> map.put(key.toString(), value));
        return map;
    }

    /** As {@link #send(ProducerRecord, Callback)} without a callback. */
    @Override
    public Future<RecordMetadata> send(ProducerRecord<K, V> record) {
        return send(record, null);
    }

    /**
     * Hands a record over for sending and returns at once, unless its topic is unknown or memory is used up: then it
     * blocks, in all no longer than {@code max.block.ms}.
     *
     * @param callback run once, on the I/O thread, or by the caller if the record is refused at once; may be null
     * @return completed when the record is acknowledged or has failed, after its callback; failed already if the record is
     *     too large, its topic unknown or forbidden, or memory was not to be had in time
     * @throws SerializationException key or value cannot be serialized
     * @throws InterruptException interrupted while blocked; the flag is set again
     * @throws IllegalStateException the producer is closed, or it has a {@code transactional.id} and no transaction is open
     * @throws KafkaException it is closed meanwhile
     * @throws IllegalArgumentException the chosen partition makes no sense
     */
    @Override
    public Future<RecordMetadata> send(ProducerRecord<K, V> record, Callback callback) {
        return sender.send(record, callback);
    }

    /**
     * Sends everything buffered without waiting for {@code linger.ms}, and blocks until every record sent before this
     * call is acknowledged or has failed.
     *
     * @throws InterruptException interrupted while blocked
     * @throws KafkaException called in a callback, where it would wait for itself
     */
    @Override
    public void flush() {
        if (io.isCurrentThread()) {
            throw new KafkaException(IN_CALLBACK);
        }
        long startNs = System.nanoTime();
        try {
            sender.awaitWaiting(Long.MAX_VALUE);
            accumulator.flush();
        } catch (InterruptedException e) {
            throw new InterruptException("Flush interrupted.", e);
        } finally {
            kafka.sensors().onFlush(System.nanoTime() - startNs);
        }
    }

    /**
     * The partitions of a topic; blocks up to {@code max.block.ms} if the topic is unknown.
     *
     * @throws org.apache.kafka.common.errors.TimeoutException not within that time
     * @throws InterruptException interrupted while blocked
     */
    @Override
    public List<PartitionInfo> partitionsFor(String topic) {
        Objects.requireNonNull(topic, "topic cannot be null");
        try {
            ClusterImage image = topics.await(topic, null, config.getLong(ProducerConfig.MAX_BLOCK_MS_CONFIG));
            return image.partitionInfos(image.topic(topic));
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    /**
     * All metrics: the stock producer's under their names, and those of group {@code millrace-metrics}. The map follows
     * what is added and removed.
     */
    @Override
    public Map<MetricName, ? extends Metric> metrics() {
        return kafka.metrics();
    }

    /** Waits without limit until all records are sent; in a callback, as {@code close(Duration.ZERO)}. */
    @Override
    public void close() {
        close(Duration.ofMillis(Long.MAX_VALUE));
    }

    /**
     * Lets no further record in, sends what is buffered, and after {@code timeout} fails what has no outcome by then.
     * In a callback nothing is waited for. Calling it again is harmless.
     *
     * @throws IllegalArgumentException a negative timeout
     * @throws InterruptException interrupted while blocked; the producer goes on closing
     * @throws KafkaException a serializer, the partitioner or a metrics reporter could not be closed; all else is
     */
    @Override
    public void close(Duration timeout) {
        long timeoutMs = toMillis(timeout);
        if (timeoutMs < 0) {
            throw new IllegalArgumentException("The timeout cannot be negative.");
        }
        if (timeoutMs > 0 && !io.isCurrentThread()) {
            kafka.telemetry().beginClose();
        }
        transactionApi.close();
        sender.refuseMore();
        if (io.isCurrentThread()) {
            stopTakingRecords();
            io.forceShutdown();
            return; // the I/O thread cannot wait for itself; it ends when the callback has returned
        }
        try {
            long startNs = System.nanoTime();
            sender.awaitWaiting(timeoutMs);
            stopTakingRecords();
            io.shutdown();
            long leftMs = timeoutMs - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
            if (leftMs > 0) {
                io.await(leftMs);
            }
            if (!io.await(0)) {
                log.info("Closing by force: not everything was sent within {} ms", timeoutMs);
                io.forceShutdown();
                io.await(Long.MAX_VALUE);
            }
        } catch (InterruptedException e) {
            stopTakingRecords();
            io.forceShutdown();
            throw new InterruptException(e);
        }
        if (closeFailure.get() != null) {
            throw closeFailure.get();
        }
    }

    private void stopTakingRecords() {
        accumulator.close();
        images.close();
    }

    private static long toMillis(Duration timeout) {
        try {
            return timeout.toMillis();
        } catch (ArithmeticException e) {
            return timeout.isNegative() ? -1 : Long.MAX_VALUE;
        }
    }

    /**
     * Gets a producer id for {@code transactional.id}, after ending what an earlier producer with it has left open; that
     * one can write no more. To be called once, before all other methods about transactions.
     *
     * @throws org.apache.kafka.common.errors.TimeoutException not within {@code max.block.ms}; call it again
     * @throws InterruptException interrupted while blocked; call it again
     * @throws IllegalStateException no {@code transactional.id} is set, or this was done already
     * @throws KafkaException the cluster refuses
     */
    @Override
    public void initTransactions() {
        sender.throwIfClosed();
        transactionApi.init();
    }

    /**
     * Opens a transaction: what is sent from now on belongs to it. Does not block.
     *
     * @throws IllegalStateException a transaction is open already, or this producer can have none
     * @throws org.apache.kafka.common.errors.ProducerFencedException another producer has taken its place
     * @throws KafkaException an error before stands against it
     */
    @Override
    public void beginTransaction() {
        sender.throwIfClosed();
        transactionApi.begin();
    }

    /**
     * Commits offsets of a consumer group if and when the transaction is committed.
     *
     * @throws org.apache.kafka.common.errors.TimeoutException not within {@code max.block.ms}; the transaction may be
     *     aborted or this be called again
     * @throws IllegalStateException no transaction is open
     * @throws org.apache.kafka.common.errors.ProducerFencedException another producer has taken the place of this one
     * @throws KafkaException an error stands against it; {@link #abortTransaction} unless that throws too
     */
    @Override
    public void sendOffsetsToTransaction(
            Map<TopicPartition, OffsetAndMetadata> offsets, ConsumerGroupMetadata groupMetadata) {
        TransactionApi.checkGroup(groupMetadata);
        sender.throwIfClosed();
        transactionApi.sendOffsets(offsets, groupMetadata);
    }

    /**
     * Lets no further record in, sends what is buffered without waiting for {@code linger.ms}, and commits; sends that
     * are still on their way in when this is called belong to the transaction.
     *
     * @throws org.apache.kafka.common.errors.TimeoutException not within {@code max.block.ms}; call it again
     * @throws InterruptException interrupted while blocked; call it again
     * @throws IllegalStateException no transaction is open
     * @throws org.apache.kafka.common.errors.ProducerFencedException another producer has taken the place of this one
     * @throws KafkaException some record failed; {@link #abortTransaction} unless that throws too
     */
    @Override
    public void commitTransaction() {
        sender.throwIfClosed();
        transactionApi.commit();
    }

    /**
     * Lets no further record in, fails what was not sent yet with
     * {@link org.apache.kafka.common.errors.TransactionAbortedException}, awaits the rest, and aborts.
     *
     * @throws org.apache.kafka.common.errors.TimeoutException not within {@code max.block.ms}; call it again
     * @throws InterruptException interrupted while blocked; call it again
     * @throws IllegalStateException no transaction is open
     * @throws org.apache.kafka.common.errors.ProducerFencedException another producer has taken the place of this one
     * @throws KafkaException the producer cannot go on and must be closed
     */
    @Override
    public void abortTransaction() {
        sender.throwIfClosed();
        transactionApi.abort();
    }

    /**
     * Offers a metric of the application to the brokers, which may subscribe to it (KIP-714); a metric of the producer's own
     * name is left alone. Does nothing if {@code enable.metrics.push} is false.
     */
    @Override
    public void registerMetricForSubscription(KafkaMetric metric) {
        if (metrics().containsKey(metric.metricName())) {
            log.debug("{} is not registered: the producer has a metric of this name", metric.metricName());
        } else {
            kafka.telemetry().register(metric);
        }
    }

    /** Takes back what {@link #registerMetricForSubscription} offered; a metric that was not is left alone. */
    @Override
    public void unregisterMetricFromSubscription(KafkaMetric metric) {
        if (metrics().containsKey(metric.metricName())) {
            log.debug("{} stays: it is the producer's own", metric.metricName());
        } else {
            kafka.telemetry().unregister(metric);
        }
    }

    /**
     * The id under which the brokers know this producer (KIP-714); blocks until they have given one.
     *
     * @return null if there is none after {@code timeout}
     * @throws IllegalArgumentException a negative timeout
     * @throws IllegalStateException {@code enable.metrics.push} is false
     * @throws InterruptException interrupted while blocked
     */
    @Override
    public Uuid clientInstanceId(Duration timeout) {
        return kafka.telemetry().clientInstanceId(timeout);
    }
}
