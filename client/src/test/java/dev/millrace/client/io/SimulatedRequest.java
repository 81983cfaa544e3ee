package dev.millrace.client.io;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.io.BrokerLink.ProduceHandler;
import dev.millrace.client.io.SimulatedTopic.Result;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/** A produce request on its way, and what its broker has done with it so far. */
final class SimulatedRequest {
    final int node;
    final Uuid topicId;
    final List<FinishedBatch> batches;
    final ProduceHandler handler;
    final long sentMs;

    /** Null before the broker has carried it out. */
    List<Result> results;

    /** Null before there is an answer. */
    Runnable answer;

    /** Those that must not be refused for their sequence. */
    private final Set<FinishedBatch> expected = new HashSet<>();

    SimulatedRequest(int node, Uuid topicId, List<FinishedBatch> batches, ProduceHandler handler, long sentMs) {
        this.node = node;
        this.topicId = topicId;
        this.batches = batches;
        this.handler = handler;
        this.sentMs = sentMs;
    }

    void expect(FinishedBatch batch) {
        expected.add(batch);
    }

    boolean isExpected(FinishedBatch batch) {
        return expected.contains(batch);
    }

    FinishedBatch batchOfOrNull(TopicPartition partition) {
        for (FinishedBatch batch : batches) {
            if (batch.partition().equals(partition)) {
                return batch;
            }
        }
        return null;
    }

    /** A request of a connection that has broken since. */
    record Late(Uuid topicId, int node, TopicPartition partition, byte[] bytes) {}
}
