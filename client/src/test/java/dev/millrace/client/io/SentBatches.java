package dev.millrace.client.io;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.kafka.common.record.internal.RecordBatch;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;

/** Watches what a producer sends: how many batches of a partition, to whom, with which sequences. */
final class SentBatches {
    private final Collection<ArrayDeque<SimulatedRequest>> connections;
    private final List<String> violations = new ArrayList<>();
    private final Map<TopicPartition, Integer> inFlight = new HashMap<>();
    private boolean gapsAreMistakes;
    private int maxInFlight;

    SentBatches(Collection<ArrayDeque<SimulatedRequest>> connections, int maxInFlight) {
        this.connections = connections;
        this.maxInFlight = maxInFlight;
    }

    /** {@link SimulatedCluster#objectToGaps} was called. */
    void objectToGaps() {
        gapsAreMistakes = true;
    }

    /** The producer was told to have no more batches of a partition in flight. */
    void expectInFlight(int batches) {
        maxInFlight = batches;
    }

    /** What the producer did that it must not do. */
    List<String> violations() {
        return violations;
    }

    void onSent(SimulatedRequest request, FinishedBatch batch, RecordBatch parsed) {
        if (inFlight.merge(batch.partition(), 1, Integer::sum) > maxInFlight) {
            violations.add("more than " + maxInFlight + " batches of " + batch.partition() + " in flight");
        }
        for (ArrayDeque<SimulatedRequest> connection : connections) {
            for (SimulatedRequest other : connection) {
                FinishedBatch earlier = other.batchOfOrNull(batch.partition());
                if (earlier != null) {
                    checkBeside(earlier, other.node, batch, request.node);
                }
            }
        }
        if (parsed.hasProducerId() && parsed.baseSequence() < 0) {
            violations.add(batch.partition() + " has the sequence " + parsed.baseSequence());
        }
        if (gapsAreMistakes && batch.attempts() == 1 && inFlight.get(batch.partition()) == 1) {
            request.expect(batch);
        }
    }

    private void checkBeside(FinishedBatch earlier, int itsNode, FinishedBatch batch, int node) {
        if (itsNode != node) {
            violations.add("batches of " + batch.partition() + " in flight to two brokers");
        }
        if (gapsAreMistakes && earlier.isDecided() && batch.attempts() == 1) {
            violations.add(batch.partition() + " was sent a new batch while an expired one was in flight");
        }
    }

    void onAnswer(SimulatedRequest request, FinishedBatch batch, ApiException error) {
        if (error instanceof OutOfOrderSequenceException && request.isExpected(batch)) {
            violations.add(batch.partition() + " was sent a batch although a gap was before it");
        }
    }

    /** The request is answered, or its connection is lost. */
    void onEnded(SimulatedRequest request) {
        request.batches.forEach(batch -> inFlight.merge(batch.partition(), -1, Integer::sum));
    }
}
