package dev.millrace.mirror.fetch;

import java.util.Map;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.common.metrics.stats.Avg;
import org.apache.kafka.common.metrics.stats.Max;
import org.apache.kafka.common.metrics.stats.Meter;
import org.apache.kafka.common.metrics.stats.WindowedCount;

/**
 * The fetcher's metrics, under the names of the consumer's. "Consumed" means handed to the sink.
 *
 * <p><b>Threads:</b> the fetch thread records, any thread reads.
 */
public final class FetchSensors {
    private static final String GROUP = "consumer-fetch-manager-metrics";

    private final Metrics metrics;
    private final Map<String, String> tags;
    private final Sensor size;
    private final Sensor records;
    private final Sensor latency;
    private final Sensor throttle;
    private final Sensor lag;
    private long answerBytes;
    private long answerRecords;

    public FetchSensors(Metrics metrics, String clientId) {
        this.metrics = metrics;
        this.tags = Map.of("client-id", clientId);
        size = metrics.sensor("bytes-fetched");
        size.add(name("fetch-size-avg", "The average bytes of an answer"), new Avg());
        size.add(name("fetch-size-max", "The most bytes of an answer"), new Max());
        size.add(meter("bytes-consumed", "bytes"));
        records = metrics.sensor("records-fetched");
        records.add(name("records-per-request-avg", "The average number of records of an answer"), new Avg());
        records.add(meter("records-consumed", "records"));
        latency = metrics.sensor("fetch-latency");
        latency.add(name("fetch-latency-avg", "The average time of a request, ms"), new Avg());
        latency.add(name("fetch-latency-max", "The longest time of a request, ms"), new Max());
        latency.add(new Meter(
                new WindowedCount(),
                name("fetch-rate", "Requests per second"),
                name("fetch-total", "The number of requests")));
        throttle = metrics.sensor("fetch-throttle-time");
        throttle.add(name("fetch-throttle-time-avg", "The average time a broker throttled a request, ms"), new Avg());
        throttle.add(name("fetch-throttle-time-max", "The longest time a broker throttled a request, ms"), new Max());
        lag = metrics.sensor("records-lag");
        lag.add(name("records-lag-max", "The largest number of records not fetched yet of a partition"), new Max());
    }

    private MetricName name(String name, String description) {
        return metrics.metricName(name, GROUP, description, tags);
    }

    private Meter meter(String base, String unit) {
        return new Meter(
                name(base + "-rate", "The number of " + unit + " per second"),
                name(base + "-total", "The number of " + unit));
    }

    /** Returns the sensor to which the network client records throttle times. */
    public Sensor throttle() {
        return throttle;
    }

    /** Records one partition's data; {@code left} is the number of its records that are not fetched yet. */
    void onFetched(int bytes, long recordCount, long left) {
        answerBytes += bytes;
        answerRecords += recordCount;
        lag.record((double) Math.max(0, left));
    }

    /** Records an answer after {@link #onFetched} for all of its partitions. */
    void onAnswer(long latencyMs) {
        size.record((double) answerBytes);
        records.record((double) answerRecords);
        latency.record((double) latencyMs);
        answerBytes = 0;
        answerRecords = 0;
    }
}
