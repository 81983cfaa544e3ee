package dev.millrace.client.kafka;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.io.SenderMetrics;
import dev.millrace.client.memory.BufferPool;
import dev.millrace.kafka.clients.producer.internals.KafkaProducerMetrics;
import dev.millrace.kafka.clients.producer.internals.SenderMetricsRegistry;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import java.util.function.IntSupplier;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.common.metrics.stats.Avg;
import org.apache.kafka.common.metrics.stats.Max;
import org.apache.kafka.common.metrics.stats.Meter;

/**
 * The stock producer's metrics, with its names and meanings. A {@link Sensor} locks, so nothing here is called for each
 * record: only for requests, for batches, and for records that wait or are refused.
 *
 * <p><b>Threads:</b> any.
 */
public final class ProducerSensors implements SenderMetrics, AutoCloseable {
    private final Metrics metrics;
    private final SenderMetricsRegistry names;
    private final KafkaProducerMetrics calls;
    private final Map<String, TopicSensors> topics = new ConcurrentHashMap<>();
    private final List<IntSupplier> requestsInFlight = new CopyOnWriteArrayList<>();

    private final Sensor batchSize;
    private final Sensor compressionRate;
    private final Sensor queueTime;
    private final Sensor requestTime;
    private final Sensor recordsPerRequest;
    private final Sensor retries;
    private final Sensor errors;
    private final Sensor splits;
    private final Sensor recordSize;
    private final Sensor memoryWait;
    private final Sensor memoryExhausted;
    private final Sensor throttleTime;

    ProducerSensors(Metrics metrics) {
        this.metrics = metrics;
        this.names = new SenderMetricsRegistry(metrics);
        this.calls = new KafkaProducerMetrics(metrics);
        this.batchSize = averageAndMax("batch-size", names.batchSizeAvg, names.batchSizeMax);
        this.compressionRate = metrics.sensor("compression-rate");
        this.compressionRate.add(names.compressionRateAvg, new Avg());
        this.queueTime = averageAndMax("queue-time", names.recordQueueTimeAvg, names.recordQueueTimeMax);
        this.requestTime = averageAndMax("request-time", names.requestLatencyAvg, names.requestLatencyMax);
        this.recordsPerRequest = rateAndTotal("records-per-request", names.recordSendRate, names.recordSendTotal);
        this.recordsPerRequest.add(names.recordsPerRequestAvg, new Avg());
        this.retries = rateAndTotal("record-retries", names.recordRetryRate, names.recordRetryTotal);
        this.errors = rateAndTotal("errors", names.recordErrorRate, names.recordErrorTotal);
        this.recordSize = averageAndMax("record-size", names.recordSizeAvg, names.recordSizeMax);
        this.throttleTime =
                averageAndMax("produce-throttle-time", names.produceThrottleTimeAvg, names.produceThrottleTimeMax);
        this.memoryWait = metrics.sensor("bufferpool-wait-time");
        this.memoryWait.add(new Meter(
                TimeUnit.NANOSECONDS,
                name("bufferpool-wait-ratio", "The fraction of time in which a thread waits for memory."),
                name("bufferpool-wait-time-ns-total", "Nanoseconds that threads have waited for memory, in all.")));
        this.memoryExhausted = rateAndTotal(
                "buffer-exhausted-records",
                name("buffer-exhausted-rate", "Records refused per second because memory was used up."),
                name("buffer-exhausted-total", "Records refused because memory was used up."));
        this.splits = rateAndTotal("batch-split-rate", names.batchSplitRate, names.batchSplitTotal);
        gauge(
                names.requestsInFlight,
                () -> requestsInFlight.stream().mapToInt(IntSupplier::getAsInt).sum());
    }

    private Sensor averageAndMax(String sensorName, MetricName average, MetricName max) {
        Sensor sensor = metrics.sensor(sensorName);
        sensor.add(average, new Avg());
        sensor.add(max, new Max());
        return sensor;
    }

    private Sensor rateAndTotal(String sensorName, MetricName rate, MetricName total) {
        Sensor sensor = metrics.sensor(sensorName);
        sensor.add(new Meter(rate, total));
        return sensor;
    }

    private MetricName name(String name, String description) {
        return metrics.metricName(name, KafkaProducerMetrics.GROUP, description);
    }

    private void gauge(MetricName name, DoubleSupplier value) {
        metrics.addMetric(name, (config, now) -> value.getAsDouble());
    }

    /** Adds gauges of the memory, and counts the time for which threads wait for it. */
    public void registerMemory(BufferPool memory) {
        memory.setWaitListener(memoryWait::record);
        gauge(name("waiting-threads", "Threads that wait for memory."), memory::waitingThreads);
        gauge(name("buffer-total-bytes", "Bytes of memory for records, in use or not."), memory::total);
        gauge(name("buffer-available-bytes", "Bytes of memory that no batch uses."), memory::available);
    }

    /** Adds the gauge of the metadata's age. */
    public void addMetadataAge(DoubleSupplier ageInSeconds) {
        gauge(names.metadataAge, ageInSeconds);
    }

    /** Adds a number to the gauge of requests without a response. */
    void addInFlight(IntSupplier inFlight) {
        requestsInFlight.add(inFlight);
    }

    /** Removes what {@link #addInFlight} added, because the connections are closed. */
    void removeInFlight(IntSupplier inFlight) {
        requestsInFlight.remove(inFlight);
    }

    /** Returns the sensor in which the network client records for how many milliseconds brokers throttle. */
    Sensor throttleTime() {
        return throttleTime;
    }

    // ---- called by I/O threads ----

    /** A produce request is about to be sent. */
    void onRequest(List<FinishedBatch> batches, long nowMs) {
        int records = 0;
        for (FinishedBatch batch : batches) {
            TopicSensors topic = topic(batch);
            topic.records.record(batch.count(), nowMs);
            topic.bytes.record(batch.size(), nowMs);
            batchSize.record(batch.size(), nowMs);
            queueTime.record((double) (nowMs - batch.createdMs()), nowMs);
            if (!batch.isPassed()) {
                topic.compressionRate.record(batch.compressionRatio(), nowMs);
                compressionRate.record(batch.compressionRatio(), nowMs);
            }
            if (batch.maxRecordSize() > 0) {
                recordSize.record(batch.maxRecordSize(), nowMs);
            }
            records += batch.count();
        }
        recordsPerRequest.record(records, nowMs);
    }

    /** A produce request was answered. */
    void onLatency(String node, long latencyMs) {
        requestTime.record((double) latencyMs);
        Sensor ofNode = metrics.getSensor("node-" + node + ".latency"); // the selector owns and removes it
        if (ofNode != null) {
            ofNode.record((double) latencyMs);
        }
    }

    @Override
    public void onRetry(FinishedBatch batch) {
        retries.record(batch.count());
        topic(batch).retries.record(batch.count());
    }

    @Override
    public void onSplit() {
        splits.record();
    }

    @Override
    public void onFailed(FinishedBatch batch) {
        errors.record(batch.count());
        topic(batch).errors.record(batch.count());
    }

    private TopicSensors topic(FinishedBatch batch) {
        String topic = batch.partition().topic();
        TopicSensors known = topics.get(topic);
        return known != null ? known : topics.computeIfAbsent(topic, TopicSensors::new);
    }

    // ---- called by application threads ----

    /** A record was refused before it reached a batch. */
    public void onRefused() {
        errors.record();
    }

    /** A record was refused because no memory became free in time. */
    public void onMemoryExhausted() {
        memoryExhausted.record();
    }

    /** A thread has waited for a topic, and the topic is now known. */
    public void onMetadataWait(long nanoseconds) {
        calls.recordMetadataWait(nanoseconds);
    }

    /** A call of {@code flush} has ended. */
    public void onFlush(long nanoseconds) {
        calls.recordFlush(nanoseconds);
    }

    // ---- called by application threads after a call about transactions has succeeded ----

    public void onInitTransactions(long nanoseconds) {
        calls.recordInit(nanoseconds);
    }

    public void onBeginTransaction(long nanoseconds) {
        calls.recordBeginTxn(nanoseconds);
    }

    public void onSendOffsets(long nanoseconds) {
        calls.recordSendOffsets(nanoseconds);
    }

    public void onCommit(long nanoseconds) {
        calls.recordCommitTxn(nanoseconds);
    }

    public void onAbort(long nanoseconds) {
        calls.recordAbortTxn(nanoseconds);
    }

    @Override
    public void close() {
        calls.close();
    }

    /** The sensors of one topic. */
    private final class TopicSensors {
        private final Sensor records;
        private final Sensor bytes;
        private final Sensor compressionRate;
        private final Sensor retries;
        private final Sensor errors;

        TopicSensors(String topic) {
            Map<String, String> tags = Map.of("topic", topic);
            String prefix = "topic." + topic;
            this.records = rateAndTotal(
                    prefix + ".records-per-batch", names.topicRecordSendRate(tags), names.topicRecordSendTotal(tags));
            this.bytes = rateAndTotal(prefix + ".bytes", names.topicByteRate(tags), names.topicByteTotal(tags));
            this.compressionRate = metrics.sensor(prefix + ".compression-rate");
            this.compressionRate.add(names.topicCompressionRate(tags), new Avg());
            this.retries = rateAndTotal(
                    prefix + ".record-retries", names.topicRecordRetryRate(tags), names.topicRecordRetryTotal(tags));
            this.errors = rateAndTotal(
                    prefix + ".record-errors", names.topicRecordErrorRate(tags), names.topicRecordErrorTotal(tags));
        }
    }
}
