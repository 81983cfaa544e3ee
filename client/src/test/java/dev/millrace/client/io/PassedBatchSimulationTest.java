package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.client.accumulator.PartitionQueue;
import dev.millrace.client.accumulator.Seed;
import dev.millrace.client.io.ProducerSimulation.Client;
import dev.millrace.client.raw.RawResult;
import dev.millrace.client.support.SourceBatch;
import dev.millrace.kafka.common.record.internal.CompressionType;
import dev.millrace.kafka.common.record.internal.SimpleRecord;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The runs of {@link ExactlyOnceSimulationTest} with whole batches passed and encoded records appended between the
 * records sent: over broken connections and moving leaders, each stands in the log once, in the order of the calls.
 */
@Tag("thorough")
class PassedBatchSimulationTest {
    private static final List<BatchCodec> CODECS = SourceBatch.codecs();
    private static final int MAX_PASSED = 12;

    @Test
    void shouldWriteEveryRecordOnceAndInOrderWhenNothingExpires() throws Exception {
        play(400, 0.15, 1_000_000, false);
    }

    @Test
    void shouldSplitWhatIsTooLargeAndKeepOrder() throws Exception {
        play(300, 0.15, 1_000_000, true);
    }

    private static void play(int seeds, double faultRate, long deliveryTimeoutMs, boolean isTooLarge) throws Exception {
        int passed = 0;
        for (long seed : Seed.several(seeds)) {
            MixedRun run = new MixedRun(seed, faultRate, deliveryTimeoutMs);
            if (isTooLarge) {
                run.cluster.topic.maxMessageBytes(ProducerSimulation.ROOM_FOR_ONE);
            }

            run.play();

            SimulationOracle oracle = new SimulationOracle(run);
            oracle.assertAllWritten();
            oracle.assertAcknowledgedAreThere();
            oracle.assertMemoryReturned();
            passed += run.passed;
        }
        assertThat(passed).as("batches passed").isPositive();
    }

    @Test
    void shouldWriteWhatIsAcknowledgedOnceAndInOrderWhenBatchesExpire() throws Exception {
        int expired = 0;
        for (long seed : Seed.several(400)) {
            MixedRun run = new MixedRun(seed, 0.3, 300);

            run.play();

            SimulationOracle oracle = new SimulationOracle(run);
            oracle.assertNothingDoubledAndInOrder();
            oracle.assertAcknowledgedAreThere();
            oracle.assertMemoryReturned();
            expired += run.failed.size();
        }
        assertThat(expired).as("records that expired").isPositive();
    }

    /** A third of the values is collected for one partition, and passed as a batch, before others go there. */
    private static final class MixedRun extends ProducerSimulation {
        private final Map<RawResult, List<Long>> pending = new HashMap<>();
        private final List<Long> collected = new ArrayList<>();
        private int passed;

        MixedRun(long seed, double faultRate, long deliveryTimeoutMs) {
            super(seed, faultRate, Client.idempotent(deliveryTimeoutMs), true);
        }

        @Override
        void send(long value) throws InterruptedException {
            int kind = random.nextInt(3);
            if (kind == 0) {
                collected.add(value);
            }
            if (kind != 0 || collected.size() == MAX_PASSED || value == ProducerSimulation.RECORDS - 1) {
                passCollected();
            }
            if (kind == 1) {
                byte[] content = {1, 2 * Long.BYTES, 0, 0, 0, 0, 0, 0, 0, 0, 0}; // no key, a long, no headers
                ByteBuffer.wrap(content).putLong(2, value);
                int to = random.nextInt(ProducerSimulation.PARTITIONS);
                RawResult result = queue(to).append(cluster.nowMs(), content, 0, content.length, 0);
                note(to, result, List.of(value));
            } else if (kind == 2) {
                super.send(value);
            }
        }

        private void passCollected() throws InterruptedException {
            if (collected.isEmpty()) {
                return;
            }
            List<SimpleRecord> records = new ArrayList<>();
            for (long value : collected) {
                byte[] bytes = new byte[Long.BYTES + random.nextInt(60)];
                ByteBuffer.wrap(bytes).putLong(value);
                records.add(new SimpleRecord(cluster.nowMs(), null, bytes));
            }
            CompressionType codec = random.nextBoolean() ? CompressionType.NONE : CompressionType.GZIP;
            int to = random.nextInt(ProducerSimulation.PARTITIONS);
            note(to, queue(to).pass(SourceBatch.of(codec, records), CODECS, 0), collected);
            collected.clear();
            passed++;
        }

        private PartitionQueue queue(int to) {
            return accumulator.queue(SimulatedCluster.TOPIC, 0, to);
        }

        private void note(int to, RawResult result, List<Long> values) {
            sent.get(to).addAll(values);
            pending.computeIfAbsent(result, fresh -> new ArrayList<>()).addAll(values);
        }

        @Override
        void runOnce() {
            super.runOnce();
            for (Iterator<Map.Entry<RawResult, List<Long>>> it =
                            pending.entrySet().iterator();
                    it.hasNext(); ) {
                Map.Entry<RawResult, List<Long>> next = it.next();
                if (next.getKey().isDone()) {
                    it.remove();
                    next.getValue()
                            .forEach(value -> complete(value, next.getKey().failureOrNull()));
                }
            }
        }

        private void complete(long value, RuntimeException failure) {
            if (failure == null) {
                TopicPartition where = new TopicPartition(SimulatedCluster.TOPIC, partitionOf(value));
                acknowledged.put(value, new RecordMetadata(where, -1, 0, -1, -1, -1));
            } else {
                failed.put(value, failure);
            }
        }

        private int partitionOf(long value) {
            return sent.keySet().stream()
                    .filter(p -> sent.get(p).contains(value))
                    .findFirst()
                    .orElseThrow();
        }
    }
}
