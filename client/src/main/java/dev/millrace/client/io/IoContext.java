package dev.millrace.client.io;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.ReadyQueue;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.StalledBrokers;
import dev.millrace.client.metadata.TopicRegistry;
import java.util.function.LongSupplier;

/**
 * The objects that an I/O thread works with.
 *
 * @param wallClock only to compare with the timestamps of records, as brokers do
 */
public record IoContext(
        Accumulator accumulator,
        ReadyQueue ready,
        ClusterImages images,
        TopicRegistry registry,
        StalledBrokers stalled,
        BrokerLink link,
        SenderMetrics metrics,
        MonotonicClock clock,
        LongSupplier wallClock) {}
