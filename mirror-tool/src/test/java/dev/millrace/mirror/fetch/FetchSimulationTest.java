package dev.millrace.mirror.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.io.Backoff;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.mirror.fetch.SimulatedSource.Lie;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metrics.Metrics;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Whatever happens to the source, each partition's records come in order, once, to the end, and as its log has them; and
 * a position is moved only when the log has it no more, and then to the right place.
 */
class FetchSimulationTest {
    private static final int RUNS = Integer.getInteger("millrace.seeds", 30);
    private static final int STEPS = 3_000;
    private static final int CALM_STEPS = 3_000;
    private static final int PARTITIONS = 12;

    private final long seed = Long.getLong("millrace.seed", System.nanoTime());

    @Test
    void shouldHandOutEachRecordOnceInOrderAndToTheEndWhateverHappens() {
        FetchOracle.Seen seen = new FetchOracle.Seen();
        for (int run = 0; run < RUNS; run++) {
            new Simulation(seed + run, Lie.NONE, seen).run();
        }
        System.out.println("FetchSimulationTest: " + seen);
        assertThat(seen.isEverything()).as("%s, seed %d", seen, seed).isTrue();
    }

    /** The weakened twins. */
    @ParameterizedTest
    @CsvSource({
        "POSITION_IS_OUTSIDE, may be to [] after a gap",
        "LOG_STARTS_LATER, after a gap",
        "EPOCH_ENDS_EARLIER, after a truncation",
        "EPOCH_ENDS_LATER, after a truncation",
        "NOTHING_IS_ABORTED, 'record at '",
        "BATCH_LEFT_OUT, could not find"
    })
    void shouldFindOutWhatIsNotSo(Lie lie, String message) {
        assertThatThrownBy(() -> {
                    for (int run = 0; run < RUNS; run++) {
                        new Simulation(seed + run, lie, new FetchOracle.Seen()).run();
                    }
                })
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("seed")
                .hasMessageContaining(message);
    }

    private static final class Simulation implements FetchSink {
        private final String where;
        private final Random random;
        private final SimulatedSource source;
        private final FetchLoop loop;
        private final FetchOracle[] oracles = new FetchOracle[PARTITIONS];
        private final List<FetchedBatches> kept = new ArrayList<>();
        private long nowMs;

        Simulation(long seed, Lie lie, FetchOracle.Seen seen) {
            where = "seed " + seed;
            random = new Random(seed);
            source = new SimulatedSource(random, 3, PARTITIONS, lie);
            ResetPolicy policy = ResetPolicy.of(random.nextBoolean() ? "latest" : "earliest");
            for (int p = 0; p < PARTITIONS; p++) {
                oracles[p] = new FetchOracle(where + ", partition " + p, source.log(p), policy, seen);
            }
            FetchSettings settings = new FetchSettings(
                    new FetchSettings.Request(1, 1 << 20, 500, IsolationLevel.READ_COMMITTED),
                    new FetchSettings.Cold(2_000, 2, 5_000),
                    new FetchSettings.Metadata(60_000, false, 60_000),
                    policy,
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
            source.calmDown();
            for (int p = 0; p < PARTITIONS; p++) {
                if (!oracles[p].isAssigned()) {
                    assign(p);
                }
            }
            for (int step = 0; step < CALM_STEPS && !isAllFetched(); step++) {
                releaseAll();
                nowMs += 20;
                loop.runOnce(100);
            }
            for (FetchOracle oracle : oracles) {
                oracle.checkAll();
            }
        }

        private boolean isAllFetched() {
            for (FetchOracle oracle : oracles) {
                if (!oracle.isAtEnd()) {
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
                case 8 -> source.log(p).append();
                case 9 -> source.log(p).deleteFirst();
                case 10, 11, 12 -> source.log(p).compact();
                default -> {
                    if (p < PARTITIONS / 2) { // the other half gets little, and becomes cold
                        source.log(p).append();
                    }
                }
            }
        }

        private void assign(int p) {
            FetchOracle oracle = oracles[p];
            SimulatedLog.Batch some = source.log(p).anyStableBatchOrNull();
            switch (random.nextInt(12)) {
                case 0, 1 -> oracle.onAssigned(some);
                case 2 -> oracle.onAssignedAfterTheEnd(1 + random.nextInt(5));
                default -> {
                    if (oracle.isEpochKnown()) { // without it the next truncation would not be noticed
                        oracle.onAssigned();
                    } else {
                        oracle.onAssigned(some);
                    }
                }
            }
            OptionalInt epoch = oracle.isEpochKnown() ? OptionalInt.of(oracle.epoch()) : OptionalInt.empty();
            loop.assign(partition(p), oracle.position(), epoch, Uuid.ZERO_UUID);
        }

        private void unassign(int p) {
            oracles[p].onUnassigned();
            loop.unassign(partition(p));
        }

        private static TopicPartition partition(int p) {
            return new TopicPartition(SimulatedSource.TOPIC, p);
        }

        private void releaseAll() {
            kept.forEach(FetchedBatches::release);
            kept.clear();
        }

        @Override
        public void onFetched(FetchedBatches fetched) {
            oracles[fetched.partition().partition()].onFetched(fetched);
            kept.add(fetched);
        }

        @Override
        public void onOffsetReset(TopicPartition partition, long from, long to, String cause) {
            oracles[partition.partition()].onReset(from, to, cause);
        }

        @Override
        public void onFailure(TopicPartition partitionOrNull, Throwable failure) {
            throw new AssertionError(where + ", " + partitionOrNull, failure);
        }
    }
}
