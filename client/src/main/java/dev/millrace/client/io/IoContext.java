package dev.millrace.client.io;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.ReadyQueue;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.StalledBrokers;
import dev.millrace.client.metadata.TopicRegistry;

/** The objects that an I/O thread works with. */
public record IoContext(
        Accumulator accumulator,
        ReadyQueue ready,
        ClusterImages images,
        TopicRegistry registry,
        StalledBrokers stalled,
        BrokerLink link,
        SenderMetrics metrics,
        MonotonicClock clock) {}
