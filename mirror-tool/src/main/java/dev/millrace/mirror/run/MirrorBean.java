package dev.millrace.mirror.run;

import dev.millrace.mirror.status.LatencyCounts;
import dev.millrace.mirror.status.MirrorMXBean;
import dev.millrace.mirror.status.MirrorStatus;
import dev.millrace.mirror.status.PartitionStatus;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Exposes a {@link MirrorStatus} through JMX.
 *
 * <p><b>Threads:</b> any.
 */
final class MirrorBean implements MirrorMXBean {
    private final Supplier<MirrorStatus> mirror;

    MirrorBean(Supplier<MirrorStatus> mirror) {
        this.mirror = mirror;
    }

    @Override
    public String getState() {
        return mirror.get().condition().state().toString();
    }

    @Override
    public String getObstacle() {
        return mirror.get().condition().obstacle();
    }

    @Override
    public boolean isHealthy() {
        return mirror.get().condition().isHealthy();
    }

    @Override
    public boolean isReady() {
        return mirror.get().condition().isReady();
    }

    @Override
    public long getRecords() {
        return mirror.get().totals().acked();
    }

    @Override
    public long getBytes() {
        return mirror.get().partitions().stream()
                .mapToLong(PartitionStatus::bytes)
                .sum();
    }

    @Override
    public long getFetchedBytes() {
        return mirror.get().bytes().fetched();
    }

    @Override
    public long getWrittenBytes() {
        return mirror.get().bytes().written();
    }

    @Override
    public long getInFlightRecords() {
        return mirror.get().totals().inFlight();
    }

    @Override
    public long getInFlightBytes() {
        return mirror.get().memory().usedBytes();
    }

    @Override
    public long getLagRecords() {
        return mirror.get().totals().lag();
    }

    @Override
    public boolean isLagKnown() {
        return mirror.get().totals().isLagKnown();
    }

    @Override
    public double getLagSeconds() {
        return owned().mapToDouble(PartitionStatus::lagSeconds)
                .filter(seconds -> !Double.isNaN(seconds))
                .max()
                .orElse(Double.NaN);
    }

    @Override
    public double getCatchUpSeconds() {
        return mirror.get().catchUpSeconds();
    }

    @Override
    public Map<String, Long> getLagOfPartitions() {
        return owned().filter(partition -> partition.lagRecords() >= 0)
                .collect(Collectors.toMap(
                        partition -> partition.topic() + "-" + partition.partition(),
                        PartitionStatus::lagRecords,
                        (one, other) -> other,
                        TreeMap::new));
    }

    @Override
    public double getLatencyMedianSeconds() {
        return latency(0.5);
    }

    @Override
    public double getLatency99thPercentileSeconds() {
        return latency(0.99);
    }

    private double latency(double share) {
        return mirror.get().partitions().stream()
                .map(PartitionStatus::latency)
                .reduce(LatencyCounts::plus)
                .map(all -> all.quantileSeconds(share))
                .orElse(Double.NaN);
    }

    @Override
    public Map<String, Long> getStalledPartitions() {
        return owned().filter(partition -> partition.stallOrNull() != null)
                .collect(Collectors.groupingBy(
                        partition -> partition.stallOrNull().toString(), TreeMap::new, Collectors.counting()));
    }

    @Override
    public Map<String, Double> getStallSeconds() {
        return mirror.get().events().stallSeconds().entrySet().stream()
                .collect(Collectors.toMap(
                        stall -> stall.getKey().toString(), Map.Entry::getValue, (one, other) -> other, TreeMap::new));
    }

    private Stream<PartitionStatus> owned() {
        return mirror.get().partitions().stream().filter(PartitionStatus::isOwned);
    }
}
