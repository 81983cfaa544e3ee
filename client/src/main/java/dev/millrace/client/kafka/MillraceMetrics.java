package dev.millrace.client.kafka;

import dev.millrace.client.accumulator.AppendCounters;
import dev.millrace.client.accumulator.SealCause;
import dev.millrace.client.memory.BufferPool;
import dev.millrace.client.metadata.ClusterImages;
import java.util.Locale;
import java.util.function.DoubleSupplier;
import org.apache.kafka.common.metrics.Metrics;

/** The metrics that only Millrace has: gauges that read what is counted anyway. */
final class MillraceMetrics {
    static final String GROUP = "millrace-metrics";

    private final Metrics metrics;

    private MillraceMetrics(Metrics metrics) {
        this.metrics = metrics;
    }

    static void register(Metrics metrics, AppendCounters counters, BufferPool memory, ClusterImages images) {
        MillraceMetrics ours = new MillraceMetrics(metrics);
        for (SealCause cause : SealCause.values()) {
            ours.gauge(
                    "batches-sealed-" + cause.name().toLowerCase(Locale.ROOT) + "-total",
                    "Batches that took no further record for this reason.",
                    () -> counters.sealedBecause(cause));
        }
        ours.gauge(
                "claims-lost-total",
                "How often a thread had to repeat a claim in a batch because another thread was faster.",
                counters::totalClaimsLost);
        ours.gauge(
                "batches-waited-on-total",
                "Batches that were sealed while a thread still wrote to them.",
                counters::totalWaitedOn);
        ours.gauge("memory-waiters", "Threads that wait for memory.", memory::waitingThreads);
        ours.gauge("metadata-waiters", "Threads that wait for a topic or a partition.", images::waitingThreads);
        ours.gauge(
                "cluster-image-version",
                "Version of the cluster image: how often it was replaced.",
                () -> images.current().version());
    }

    static void addCertificateExpiry(Metrics metrics, DoubleSupplier epochSeconds) {
        new MillraceMetrics(metrics)
                .gauge(
                        "certificate-expiry-timestamp-seconds",
                        "When the certificate that new connections show expires, in seconds since 1970.",
                        epochSeconds);
    }

    private void gauge(String name, String description, DoubleSupplier value) {
        metrics.addMetric(metrics.metricName(name, GROUP, description), (config, now) -> value.getAsDouble());
    }
}
