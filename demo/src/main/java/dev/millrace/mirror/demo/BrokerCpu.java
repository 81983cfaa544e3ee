package dev.millrace.mirror.demo;

import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import java.util.function.LongConsumer;

/**
 * Measures what both clusters pay for a run: the CPU time of their brokers while the run is measured. It hears of that
 * through the run's output, some milliseconds late.
 *
 * <p><b>Threads:</b> one.
 */
final class BrokerCpu implements RunListener {
    private final KafkaCluster source;
    private final KafkaCluster target;
    private final LongConsumer progress;

    private Duration sourceTime = Duration.ZERO;
    private Duration targetTime = Duration.ZERO;
    private long measured;

    BrokerCpu(KafkaCluster source, KafkaCluster target, LongConsumer progress) {
        this.source = source;
        this.target = target;
        this.progress = progress;
    }

    @Override
    public void onProgress(long records) {
        progress.accept(records);
    }

    @Override
    public void onMeasurementStarted() {
        sourceTime = source.cpuTime();
        targetTime = target.cpuTime();
    }

    @Override
    public void onMeasurementEnded(long records) {
        measured = records;
        sourceTime = source.cpuTime().minus(sourceTime);
        targetTime = target.cpuTime().minus(targetTime);
    }

    double sourceNanosPerRecord() {
        return (double) sourceTime.toNanos() / measured;
    }

    double targetNanosPerRecord() {
        return (double) targetTime.toNanos() / measured;
    }
}
