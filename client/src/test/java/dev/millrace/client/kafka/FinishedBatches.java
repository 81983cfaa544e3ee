package dev.millrace.client.kafka;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.client.accumulator.EncodableRecord;
import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.accumulator.ReadyQueues;
import dev.millrace.client.accumulator.SealCause;
import dev.millrace.client.memory.BufferPool;
import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.Replicas;
import dev.millrace.client.metadata.TopicImage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/** Batches that are ready to be sent, each of one record, and the image by which they are sent. */
final class FinishedBatches {
    private static final int PARTITIONS = 3;

    private final ReadyQueues ready = ReadyQueues.forThreads(1);
    private final Accumulator accumulator =
            new Accumulator(new BufferPool(1 << 20, 1000, ready::wake), ready, BatchCodec.NONE, () -> 0, 0);
    private final Map<String, Integer> indexes;

    /** For partitions of these topics. */
    FinishedBatches(String... topics) {
        Map<String, Integer> byName = new HashMap<>();
        Arrays.stream(topics).forEach(topic -> byName.put(topic, byName.size()));
        indexes = byName;
    }

    FinishedBatch of(String topic, int partition) {
        try {
            EncodableRecord record = new EncodableRecord(0, null, new byte[10], new byte[] {0});
            accumulator.append(topic, indexes.get(topic), partition, record, null, 0);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        List<FinishedBatch> batches = new ArrayList<>();
        accumulator.forEachQueue(ready.get(0), queue -> {
            if (queue.partition().equals(new TopicPartition(topic, partition))) {
                queue.sealOldest(SealCause.FLUSH);
                batches.add(queue.peek());
            }
        });
        batches.get(0).stamp(-1, (short) -1, FinishedBatch.NO_SEQUENCE);
        return batches.get(0);
    }

    /** An image with these topics. */
    static ClusterImage image(TopicImage... topics) {
        ClusterImages images = new ClusterImages(ClusterImage.bootstrap(List.of()));
        images.applyDelta(new ClusterDelta("c", List.of(), List.of(topics), Map.of(), true));
        return images.current();
    }

    static TopicImage topic(String name, Uuid id) {
        int[][] nobody = new int[PARTITIONS][0];
        int[] leaders = new int[PARTITIONS];
        Arrays.fill(leaders, 1);
        return new TopicImage(name, id, leaders, new int[PARTITIONS], new Replicas(nobody, nobody, nobody));
    }
}
