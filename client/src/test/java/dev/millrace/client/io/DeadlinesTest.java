package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.client.accumulator.ReadyQueues;
import dev.millrace.client.memory.BufferPool;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DeadlinesTest {
    private static final int PARTITIONS = 40;
    private static final int STEPS = 20_000;
    private static final int HORIZON_MS = 50;

    private final List<Deadlines> both = List.of(new Deadlines(), new Deadlines());
    private final List<PartitionState> partitions = partitions();

    /** What should be where, and when it is due. */
    private final List<Map<PartitionState, Long>> expected = List.of(new HashMap<>(), new HashMap<>());

    @Test
    void shouldHoldEachPartitionInOneOfTwoAtATimeWhenItIsMovedAtRandom() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int step = 0; step < STEPS; step++) {
            long nowMs = step / 10;
            act(random, nowMs);
            for (int i = 0; i < both.size(); i++) {
                assertThat(both.get(i).delayMs(nowMs))
                        .as("step %d of seed %d", step, seed)
                        .isEqualTo(expectedDelayMs(i, nowMs));
            }
        }
    }

    private void act(Random random, long nowMs) {
        int side = random.nextInt(2);
        PartitionState p = partitions.get(random.nextInt(PARTITIONS));
        switch (random.nextInt(8)) {
            case 0 -> {
                p.revisit.cancel();
                expected.forEach(due -> due.remove(p));
            }
            case 1 -> {
                List<PartitionState> due = both.get(side).pollDue(nowMs);
                assertThat(due).isSortedAccordingTo((a, b) -> Long.compare(dueMs(side, a), dueMs(side, b)));
                assertThat(due).containsExactlyInAnyOrderElementsOf(removeDue(side, nowMs));
            }
            case 2 -> {
                List<PartitionState> some =
                        random.ints(3, 0, PARTITIONS).mapToObj(partitions::get).toList();
                List<PartitionState> wanted = new ArrayList<>(expected.get(side).keySet());
                wanted.retainAll(some);
                assertThat(both.get(side).pollIf(some::contains)).containsExactlyInAnyOrderElementsOf(wanted);
                expected.get(side).keySet().removeAll(wanted);
            }
            default -> {
                long dueMs = nowMs + random.nextInt(HORIZON_MS);
                both.get(side).scheduleBy(p.revisit, dueMs);
                expected.get(1 - side).remove(p);
                expected.get(side).merge(p, dueMs, Math::min);
            }
        }
    }

    private long dueMs(int side, PartitionState p) {
        return expected.get(side).get(p);
    }

    private List<PartitionState> removeDue(int side, long nowMs) {
        Map<PartitionState, Long> all = expected.get(side);
        List<PartitionState> due =
                all.keySet().stream().filter(p -> all.get(p) <= nowMs).toList();
        due.forEach(all::remove);
        return due;
    }

    private long expectedDelayMs(int side, long nowMs) {
        return expected.get(side).values().stream()
                .mapToLong(dueMs -> Math.max(0, dueMs - nowMs))
                .min()
                .orElse(Long.MAX_VALUE);
    }

    private static List<PartitionState> partitions() {
        ReadyQueues ready = ReadyQueues.forThreads(1);
        Accumulator accumulator =
                new Accumulator(new BufferPool(1 << 20, 100, ready::wake), ready, BatchCodec.NONE, () -> 0, 0);
        SenderSettings settings = new SenderSettings(
                0, 1_000, 1, new Backoff(10, 100), 1000, 5, true, 60_000, 600_000, true, 300_000, true);
        List<PartitionState> partitions = new ArrayList<>();
        for (int p = 0; p < PARTITIONS; p++) {
            partitions.add(new PartitionState(
                    accumulator.queue("t", 0, p),
                    settings,
                    new BrokerMemory(() -> 0),
                    new NoMetrics(),
                    TransactionShare.NONE));
        }
        return partitions;
    }
}
