package dev.millrace.jmh;

import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.MetadataSnapshot;
import org.apache.kafka.clients.producer.internals.ProducerBatch;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.utils.Time;

/**
 * Takes batches from the stock accumulator, with the calls of Kafka's {@code Sender} in its order, and acknowledges
 * each at once. The stock accumulator closes a batch when it is drained, so header and checksum are written on this I/O
 * thread.
 */
final class KafkaBatchSink extends IoLoop {
    private static final int MAX_REQUEST_SIZE = 1 << 20;

    private final RecordAccumulator accumulator;
    private final MetadataSnapshot cluster;
    private long offset;

    KafkaBatchSink(RecordAccumulator accumulator, MetadataSnapshot cluster) {
        this.accumulator = accumulator;
        this.cluster = cluster;
    }

    @Override
    long runOnce() {
        long nowMs = Time.SYSTEM.milliseconds();
        RecordAccumulator.ReadyCheckResult check = accumulator.ready(cluster, nowMs);
        Set<Node> nodes = check.readyNodes;
        if (nodes.isEmpty()) {
            return Math.max(1, check.nextReadyCheckDelayMs);
        }
        for (List<ProducerBatch> batches :
                accumulator.drain(cluster, nodes, MAX_REQUEST_SIZE, nowMs).values()) {
            batches.forEach(this::acknowledge);
        }
        return 0;
    }

    private void acknowledge(ProducerBatch batch) {
        batch.setInflight(true);
        batch.setInflight(false);
        batch.complete(offset, -1);
        offset++;
        accumulator.completeAndDeallocateBatch(batch);
    }
}
