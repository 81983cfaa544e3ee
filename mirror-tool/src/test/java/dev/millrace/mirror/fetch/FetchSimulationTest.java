package dev.millrace.mirror.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.io.Backoff;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metrics.Metrics;
import org.junit.jupiter.api.Test;

/** Whatever happens to the source, each partition's batches come in order, without gaps, once, and to the end. */
class FetchSimulationTest {
    private static final int RUNS = 30;
    private static final int STEPS = 3_000;
    private static final int CALM_STEPS = 3_000;
    private static final int PARTITIONS = 12;

    private final long seed = Long.getLong("millrace.seed", System.nanoTime());

    @Test
    void shouldHandOutEachBatchOnceInOrderAndToTheEndWhateverHappens() {
        for (int run = 0; run < RUNS; run++) {
            new Simulation(seed + run).run();
        }
    }

    private static final class Simulation implements FetchSink {
        private final String where;
        private final Random random;
        private final SimulatedSource source;
        private final FetchLoop loop;
        private final long[] ends = new long[PARTITIONS];
        private final int[] epochs = new int[PARTITIONS];
        private final boolean[] assigned = new boolean[PARTITIONS];
        private final List<FetchedBatches> kept = new ArrayList<>();
        private long nowMs;

        Simulation(long seed) {
            where = "seed " + seed;
            random = new Random(seed);
            source = new SimulatedSource(random, 3, PARTITIONS);
            FetchSettings settings = new FetchSettings(
                    new FetchSettings.Request(1, 1 << 20, 500, IsolationLevel.READ_COMMITTED),
                    new FetchSettings.Cold(2_000, 2, 5_000),
                    new FetchSettings.Metadata(60_000, false, 60_000),
                    ResetPolicy.of("latest"),
                    new Backoff(50, 500, random::nextDouble),
                    4_000);
            ClusterImages images =
                    new ClusterImages(ClusterImage.bootstrap(List.of(InetSocketAddress.createUnresolved("b", 1))));
            loop = new FetchLoop(source, this, settings, images, new FetchSensors(new Metrics(), "t"), () -> nowMs);
        }

        void run() {
            for (int step = 0; step < STEPS; step++) {
                happen(random.nextInt(PARTITIONS), random.nextInt(40));
                nowMs += random.nextInt(60);
                loop.runOnce(100);
            }
            source.calm = true;
            for (int p = 0; p < PARTITIONS; p++) {
                if (!assigned[p]) {
                    assign(p);
                }
            }
            for (int step = 0; step < CALM_STEPS && !isAllFetched(); step++) {
                releaseAll();
                nowMs += 20;
                loop.runOnce(100);
            }
            for (int p = 0; p < PARTITIONS; p++) {
                assertThat(ends[p]).as("%s, partition %d", where, p).isEqualTo(source.end(p));
            }
        }

        private boolean isAllFetched() {
            for (int p = 0; p < PARTITIONS; p++) {
                if (ends[p] != source.end(p)) {
                    return false;
                }
            }
            return true;
        }

        private void happen(int p, int event) {
            switch (event) {
                case 0 -> source.moveLeader(p);
                case 1 -> source.truncate(p);
                case 2 -> unassign(p);
                case 3 -> assign(p);
                case 4 -> releaseAll();
                case 5, 6, 7 -> {
                    if (!kept.isEmpty()) {
                        kept.remove(random.nextInt(kept.size())).release();
                    }
                }
                default -> {
                    if (p < PARTITIONS / 2 || event == 8) { // the other half gets little, and becomes cold
                        source.append(p);
                    }
                }
            }
        }

        private void assign(int p) {
            assigned[p] = true;
            if (epochs[p] < 0 || random.nextInt(3) == 0) { // back to some batch
                SimulatedSource.Batch last = source.anyBatchOrNull(p);
                ends[p] = last == null ? 0 : last.end();
                epochs[p] = last == null ? -1 : last.epoch();
            }
            OptionalInt epoch = ends[p] == 0 ? OptionalInt.empty() : OptionalInt.of(epochs[p]);
            loop.assign(new TopicPartition(SimulatedSource.TOPIC, p), ends[p], epoch, Uuid.ZERO_UUID);
        }

        private void unassign(int p) {
            assigned[p] = false;
            loop.unassign(new TopicPartition(SimulatedSource.TOPIC, p));
        }

        private void releaseAll() {
            kept.forEach(FetchedBatches::release);
            kept.clear();
        }

        @Override
        public void onFetched(FetchedBatches fetched) {
            int p = fetched.partition().partition();
            assertThat(assigned[p]).as("%s, partition %d is assigned", where, p).isTrue();
            assertThat(fetched.fetchOffset()).as("%s, partition %d", where, p).isEqualTo(ends[p]);
            ByteBuffer bytes = fetched.bytes();
            for (int at = 0; at < bytes.limit(); at += 12 + bytes.getInt(at + 8)) {
                long base = bytes.getLong(at);
                long end = base + bytes.getInt(at + 23) + 1;
                assertThat(base).as("%s, partition %d", where, p).isEqualTo(ends[p]);
                ends[p] = end;
                epochs[p] = bytes.getInt(at + 12);
            }
            kept.add(fetched);
        }

        @Override
        public void onOffsetReset(TopicPartition partition, long from, long to, String cause) {
            int p = partition.partition();
            assertThat(from).as("%s, partition %d: %s", where, p, cause).isEqualTo(ends[p]);
            ends[p] = to;
            epochs[p] = -1; // what is assigned without it would not notice the next truncation
        }

        @Override
        public void onFailure(TopicPartition partitionOrNull, Throwable failure) {
            throw new AssertionError(where + ", " + partitionOrNull, failure);
        }
    }
}
