package dev.millrace.client;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.delivery.DeliveryFuture;
import dev.millrace.client.io.IoThreads;
import dev.millrace.client.kafka.KafkaBridge;
import dev.millrace.client.kafka.KafkaVersion;
import dev.millrace.client.kafka.ProtocolClasses;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.raw.RawProducer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
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
 * A Kafka producer for many threads to share: {@link #send} takes no lock while the topic is known and memory is
 * available. It is constructed, configured and used like {@code KafkaProducer}. A configuration that it does not
 * support makes the constructor throw.
 *
 * <p><b>Threads:</b> all methods may be called by any thread. Callbacks run on an I/O thread; those of one partition
 * run one after the other, in the order of offsets. A slow callback delays everything that its I/O thread has to do. An
 * exception or {@code Error} that a callback or an interceptor throws there is logged, and affects no record.
 *
 * @param <K> type of the keys
 * @param <V> type of the values
 */
public final class MillraceProducer<K, V> implements Producer<K, V> {
    private static final Logger log = LoggerFactory.getLogger(MillraceProducer.class);
    private static final String IN_CALLBACK =
            "flush() was called in a callback: it would wait for the thread that runs the callback";

    static {
        RawProducer.setAccess(producer -> producer instanceof MillraceProducer<?, ?> ours ? ours.raw() : null);
    }

    private final ProducerConfig config;
    private final RecordSender<K, V> sender;
    private final RecordSizeLimit limit;
    private final KafkaBridge kafka;
    private final ClusterImages images;
    private final TopicLookup topics;
    private final Accumulator accumulator;
    private final IoThreads io;
    private final TransactionApi transactionApi;

    /** Returns what closing the application's objects threw, or null. */
    private final Supplier<KafkaException> closeFailure;

    /**
     * Creates a producer and starts its I/O threads. Resolves the names in {@code bootstrap.servers}; connects in the
     * background.
     *
     * @param configs the keys of {@link ProducerConfig} and {@link MillraceConfig}; must name the serializers
     * @throws org.apache.kafka.common.config.ConfigException a key is missing or wrong, or Millrace does not support it
     * @throws KafkaException the producer cannot be constructed, or the version of kafka-clients is not supported
     */
    public MillraceProducer(Map<String, Object> configs) {
        this(configs, null, null);
    }

    /** Does the same as {@link #MillraceProducer(Map)}. */
    public MillraceProducer(Properties properties) {
        this(properties, null, null);
    }

    /**
     * Does the same as {@link #MillraceProducer(Map)}, with configured serializers, which {@link #close} closes; null
     * ones come from the configuration.
     */
    public MillraceProducer(Properties properties, Serializer<K> keySerializer, Serializer<V> valueSerializer) {
        this(toMap(properties), keySerializer, valueSerializer);
    }

    /**
     * Does the same as {@link #MillraceProducer(Map)}, with configured serializers, which {@link #close} closes; null
     * ones come from the configuration.
     */
    public MillraceProducer(Map<String, Object> configs, Serializer<K> keySerializer, Serializer<V> valueSerializer) {
        this(configs, keySerializer, valueSerializer, KafkaBridge::openLink);
    }

    /** Does the same with another network, which benchmarks replace. */
    MillraceProducer(
            Map<String, Object> configs,
            Serializer<K> keySerializer,
            Serializer<V> valueSerializer,
            ProducerParts.Network network) {
        KafkaVersion.check();
        ProtocolClasses.beginToLoad();
        config = ProducerSettings.parse(configs, keySerializer, valueSerializer);
        ProducerParts<K, V> parts = new ProducerParts<>(config, keySerializer, valueSerializer, network);
        kafka = parts.kafka;
        images = parts.images;
        topics = parts.topics;
        accumulator = parts.accumulator;
        io = parts.io;
        transactionApi = parts.transactions;
        sender = parts.sender;
        limit = parts.limit;
        closeFailure = parts::closeFailure;
    }

    private RawProducer raw() {
        return new RawSender(config, kafka, topics, accumulator, io, transactionApi, limit);
    }

    private static Map<String, Object> toMap(Properties properties) {
        Map<String, Object> map = new HashMap<>();
        properties.forEach((key, value) -> map.put(key.toString(), value));
        return map;
    }

    /** Does the same as {@link #send(ProducerRecord, Callback)} without a callback. */
    @Override
    public DeliveryFuture send(ProducerRecord<K, V> record) {
        return send(record, null);
    }

    /**
     * Adds a record to the open batch of its partition and returns. Blocks only while its topic is unknown or memory is
     * used up, in total at most {@code max.block.ms} milliseconds; see also {@link
     * MillraceConfig#METADATA_BLOCK_CONFIG}.
     *
     * @param callback run once: on the I/O thread, or by the calling thread if the record is refused at once; may be
     *     null. A {@link dev.millrace.client.delivery.DeliveryCallback} is also told how certain the outcome is
     * @return a future that is done when the record is acknowledged or has failed, and its callback has returned; has
     *     failed already if the record is too large, its topic is unknown or forbidden, or no memory became free in
     *     time
     * @throws SerializationException key or value cannot be serialized
     * @throws InterruptException interrupted while blocked; the thread's interrupt flag is set again
     * @throws IllegalStateException the producer is closed, or it has a {@code transactional.id} and no transaction is
     *     open
     * @throws KafkaException the producer was closed during the call, the transaction has failed and must be aborted, or
     *     asking the cluster has failed for good
     * @throws IllegalArgumentException the application's partitioner chose a partition that the topic does not have
     */
    @Override
    public DeliveryFuture send(ProducerRecord<K, V> record, Callback callback) {
        return sender.send(record, callback);
    }

    /**
     * Sends all buffered records without waiting for {@code linger.ms}, and blocks until each record sent before this
     * call is acknowledged or has failed. It has no time limit of its own, but {@code delivery.timeout.ms} limits each
     * record.
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
            sender.awaitWaitingRecords(Long.MAX_VALUE);
            accumulator.flush();
        } catch (InterruptedException e) {
            throw new InterruptException("Flush interrupted.", e);
        } finally {
            kafka.sensors().onFlush(System.nanoTime() - startNs);
        }
    }

    /**
     * Returns the partitions of a topic. Blocks at most {@code max.block.ms} milliseconds, and only if the topic is
     * unknown.
     *
     * @throws org.apache.kafka.common.errors.TimeoutException the topic is still unknown after that time
     * @throws org.apache.kafka.common.errors.InvalidTopicException the topic's name is not valid
     * @throws org.apache.kafka.common.errors.TopicAuthorizationException the producer may not see the topic
     * @throws InterruptException interrupted while blocked
     * @throws KafkaException asking the cluster failed for good, or the producer is closed
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
     * Returns all metrics: the stock producer's under their names, and those of the group {@code millrace-metrics}. The
     * map is a view: it shows metrics that are added or removed later. Does not block.
     */
    @Override
    public Map<MetricName, ? extends Metric> metrics() {
        return kafka.metrics();
    }

    /** Closes as {@link #close(Duration)} without a limit; in a callback as {@code close(Duration.ZERO)}. */
    @Override
    public void close() {
        close(Duration.ofMillis(Long.MAX_VALUE));
    }

    /**
     * Stops accepting records, sends the buffered ones, and blocks until each has an outcome or {@code timeout} is
     * over. Then fails those that have none, and waits, without a limit, until the I/O threads have ended: for a
     * callback that still runs, for the application's objects to close, and at most two seconds for the file of {@code
     * millrace.metadata.cache}. An open transaction is aborted. In a callback it does not block, and fails the records
     * at once. May be called again.
     *
     * <p>With a {@code timeout} of zero, and in a callback, an open transaction stays open until the next producer with
     * its {@code transactional.id} is initialized, or the coordinator decides about it after {@code
     * transaction.timeout.ms}.
     *
     * <p>If a broker's quota is exceeded, the buffered records wait for as long as the excess is worth, and so does this
     * method.
     *
     * <p>A {@code send} that is still in a serializer or partitioner throws afterwards, and has added nothing to its
     * transaction.
     *
     * @throws IllegalArgumentException the timeout is negative
     * @throws InterruptException interrupted while blocked; the I/O threads continue closing, and fail what has no
     *     outcome
     * @throws KafkaException a serializer or the partitioner threw when it was closed, or an interceptor or a metrics reporter
     *     threw an {@code Error}; the rest is closed. Not thrown in a callback
     */
    @Override
    public void close(Duration timeout) {
        long timeoutMs = toMillis(timeout);
        if (timeoutMs < 0) {
            throw new IllegalArgumentException("The timeout cannot be negative.");
        }
        boolean isForced = timeoutMs == 0 || io.isCurrentThread();
        if (!isForced) {
            kafka.telemetry().beginClose();
            if (sender.isAccepting()) { // otherwise the first call decides about the transaction
                transactionApi.close();
            }
        }
        sender.stopAccepting();
        if (io.isCurrentThread()) {
            closeToRecords();
            io.forceShutdown();
            return; // the I/O thread cannot wait for itself; it ends after the callback has returned
        }
        try {
            long startNs = System.nanoTime();
            sender.awaitWaitingRecords(timeoutMs);
            closeToRecords();
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
            closeToRecords();
            io.forceShutdown();
            throw new InterruptException(e);
        }
        if (closeFailure.get() != null) {
            throw closeFailure.get();
        }
    }

    private void closeToRecords() {
        accumulator.close();
        images.close();
        transactionApi.closeToRecords();
    }

    private static long toMillis(Duration timeout) {
        try {
            return timeout.toMillis();
        } catch (ArithmeticException e) {
            return timeout.isNegative() ? -1 : Long.MAX_VALUE;
        }
    }

    /**
     * Gets a producer id for {@code transactional.id}. Ends the transaction that an earlier producer with this id has
     * left open, and fences that producer, which can then write no more. Must be called once, before the other methods
     * about transactions. Blocks at most {@code max.block.ms} milliseconds.
     *
     * @throws org.apache.kafka.common.errors.TimeoutException not done within {@code max.block.ms}; call it again
     * @throws InterruptException interrupted while blocked; call it again
     * @throws IllegalStateException no {@code transactional.id} is set, this was done already, or the producer is
     *     closed
     * @throws KafkaException the cluster refuses
     */
    @Override
    public void initTransactions() {
        sender.throwIfClosed();
        transactionApi.init();
    }

    /**
     * Opens a transaction: the records sent from now on belong to it. Does not block.
     *
     * @throws IllegalStateException a transaction is open already, this producer has no {@code transactional.id} or was
     *     not initialized, or it is closed
     * @throws org.apache.kafka.common.errors.ProducerFencedException another producer has the same
     *     {@code transactional.id}
     * @throws KafkaException an earlier error prevents it
     */
    @Override
    public void beginTransaction() {
        sender.throwIfClosed();
        transactionApi.begin();
    }

    /**
     * Adds offsets of a consumer group to the transaction; they are committed if the transaction is. Blocks at most
     * {@code max.block.ms} milliseconds.
     *
     * @throws org.apache.kafka.common.errors.TimeoutException not done within {@code max.block.ms}; call it again, or
     *     abort the transaction
     * @throws InterruptException interrupted while blocked; call it again, or abort the transaction
     * @throws IllegalStateException no transaction is open, or the producer is closed
     * @throws IllegalArgumentException {@code groupMetadata} is null, has a generation but no member id, or an id that
     *     is too long; or an offset is null, as the consumer's {@code committed()} has it for a partition without a commit
     * @throws org.apache.kafka.common.errors.OffsetMetadataTooLarge an offset's metadata does not fit a request
     * @throws org.apache.kafka.common.errors.InvalidTopicException the name of an offset's topic is too long
     * @throws org.apache.kafka.common.errors.ProducerFencedException another producer has the same
     *     {@code transactional.id}
     * @throws KafkaException an earlier error prevents it; call {@link #abortTransaction}, and if that throws, close
     */
    @Override
    public void sendOffsetsToTransaction(
            Map<TopicPartition, OffsetAndMetadata> offsets, ConsumerGroupMetadata groupMetadata) {
        TransactionApi.checkGroup(groupMetadata);
        sender.throwIfClosed();
        transactionApi.sendOffsets(offsets, groupMetadata);
    }

    /**
     * Does the same as the method above for a consumer group of which only the id is known. Kafka's {@code Producer}
     * has it in version 3.9 only.
     *
     * @deprecated it cannot fence a member that left the group; use the method above
     */
    @Deprecated(since = "0.1")
    @SuppressWarnings({"InlineMeSuggester", "removal"}) // only 3.9 calls this, and has the constructor
    public void sendOffsetsToTransaction(Map<TopicPartition, OffsetAndMetadata> offsets, String consumerGroupId) {
        sendOffsetsToTransaction(offsets, new ConsumerGroupMetadata(consumerGroupId));
    }

    /**
     * Stops accepting records, sends the buffered ones without waiting for {@code linger.ms}, and commits. Calls of
     * {@code send} that other threads have begun belong to the transaction. Blocks at most {@code max.block.ms}
     * milliseconds.
     *
     * @throws org.apache.kafka.common.errors.TimeoutException not done within {@code max.block.ms}; call it again
     * @throws InterruptException interrupted while blocked; call it again
     * @throws IllegalStateException no transaction is open, or the producer is closed
     * @throws org.apache.kafka.common.errors.ProducerFencedException another producer has the same
     *     {@code transactional.id}
     * @throws KafkaException a record has failed; call {@link #abortTransaction}, and if that throws, close
     */
    @Override
    public void commitTransaction() {
        sender.throwIfClosed();
        transactionApi.commit();
    }

    /**
     * Stops accepting records, fails those that were not sent yet with
     * {@link org.apache.kafka.common.errors.TransactionAbortedException}, waits for the outcome of the others, and
     * aborts. Blocks at most {@code max.block.ms} milliseconds.
     *
     * @throws org.apache.kafka.common.errors.TimeoutException not done within {@code max.block.ms}; call it again
     * @throws InterruptException interrupted while blocked; call it again
     * @throws IllegalStateException no transaction is open, or the producer is closed
     * @throws org.apache.kafka.common.errors.ProducerFencedException another producer has the same
     *     {@code transactional.id}
     * @throws KafkaException the producer cannot continue and must be closed
     */
    @Override
    public void abortTransaction() {
        sender.throwIfClosed();
        transactionApi.abort();
    }

    /**
     * Offers a metric of the application to the brokers, which may subscribe to it (KIP-714). Does nothing if the
     * producer has a metric of the same name, or if {@code enable.metrics.push} is false. Does not block.
     */
    @Override
    public void registerMetricForSubscription(KafkaMetric metric) {
        if (metrics().containsKey(metric.metricName())) {
            log.debug("{} is not registered: the producer has a metric of this name", metric.metricName());
        } else {
            kafka.telemetry().register(metric);
        }
    }

    /**
     * Withdraws a metric that {@link #registerMetricForSubscription} offered; does nothing for any other. Does not
     * block.
     */
    @Override
    public void unregisterMetricFromSubscription(KafkaMetric metric) {
        if (metrics().containsKey(metric.metricName())) {
            log.debug("{} is not unregistered: it is the producer's own metric", metric.metricName());
        } else {
            kafka.telemetry().unregister(metric);
        }
    }

    /**
     * Returns the id under which the brokers know this producer (KIP-714). Blocks until they have assigned one, at most
     * {@code timeout}.
     *
     * @return null if there is none after {@code timeout}
     * @throws IllegalArgumentException the timeout is negative
     * @throws IllegalStateException {@code enable.metrics.push} is false
     * @throws InterruptException interrupted while blocked
     */
    @Override
    public Uuid clientInstanceId(Duration timeout) {
        return kafka.telemetry().clientInstanceId(timeout);
    }
}
