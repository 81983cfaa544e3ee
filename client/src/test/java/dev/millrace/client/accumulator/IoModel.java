package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * What the I/O thread does with the accumulator, without a network: it visits only partitions that were handed over,
 * seals what lingers, takes finished batches in order, delivers and releases them, and sleeps when there is nothing. It
 * checks each thread's order as a consumer would.
 */
final class IoModel {
    /** Faults that the model can have, and the check that must notice each. */
    enum Fault {
        LOSE_A_BATCH("records that came out"),
        READ_A_BATCH_TWICE("the record of writer"),
        /** Again and again, because a swap of batches that no writer shares changes nothing. */
        SWAP_BATCHES("the record of writer"),
        KEEP_MEMORY("memory given back"),
        FORGET_TO_DELIVER("futures"),
        /** One partition is not visited any more. */
        OVERLOOK_A_PARTITION("woken for what was handed over");

        final String noticedBy;

        Fault(String noticedBy) {
            this.noticedBy = noticedBy;
        }
    }

    /** How long a sleep may last before it counts as a missed wake-up. */
    private static final long SLEEP_BOUND_MS = 20_000;

    private static final long FAULTY_SLEEP_BOUND_MS = 500;
    private static final int FAULTY_BATCH = 20;

    private final TestAccumulator parts;
    private final Random random;
    private final Fault fault;
    private final Semaphore selector = new Semaphore(0);
    private final Set<PartitionQueue> lingering = new HashSet<>();
    private final Map<Integer, Integer> takenByWriter = new HashMap<>();
    private final Map<String, Integer> lastByWriterAndPartition = new HashMap<>();
    private int batches;
    private FinishedBatch heldBack;
    private PartitionQueue overlooked;

    /** Null for no fault. */
    IoModel(TestAccumulator parts, Random random, Fault fault) {
        this.parts = parts;
        this.random = random;
        this.fault = fault;
        parts.ready.onWake(selector::release);
    }

    /** Returns when no thread appends any more and everything is drained. */
    void runUntil(BooleanSupplier nobodyAppends) throws InterruptedException {
        while (true) {
            boolean last = nobodyAppends.getAsBoolean();
            for (PartitionQueue queue = parts.ready.poll(); queue != null; queue = parts.ready.poll()) {
                visit(queue);
            }
            boolean all = last || parts.accumulator.isShortOfMemory() || parts.accumulator.isUrgent();
            for (PartitionQueue queue : new ArrayDeque<>(lingering)) {
                if (all || random.nextInt(50) == 0) {
                    queue.sealOldest(SealCause.LINGER);
                    visit(queue);
                }
            }
            if (last && isIdle()) {
                return;
            }
            if (lingering.isEmpty()) {
                sleep();
            }
        }
    }

    private boolean isIdle() {
        boolean[] idle = {true};
        parts.accumulator.forEachQueue(parts.ready, queue -> idle[0] &= !queue.hasRecords());
        return idle[0];
    }

    /** Nothing lingers: until the next hand-over there is nothing to do, however long that takes. */
    private void sleep() throws InterruptedException {
        if (parts.ready.trySleep(Long.MAX_VALUE)) {
            boolean woken = selector.tryAcquire(
                    fault == Fault.OVERLOOK_A_PARTITION ? FAULTY_SLEEP_BOUND_MS : SLEEP_BOUND_MS,
                    TimeUnit.MILLISECONDS);
            parts.ready.markAwake();
            assertThat(woken || isIdle()).as("woken for what was handed over").isTrue();
            selector.drainPermits();
        }
    }

    private void visit(PartitionQueue queue) {
        if (fault == Fault.OVERLOOK_A_PARTITION && batches >= FAULTY_BATCH && overlooked == null) {
            overlooked = queue;
        }
        if (queue == overlooked) {
            lingering.remove(queue);
            return;
        }
        for (FinishedBatch batch = queue.peek(); batch != null; batch = queue.peek()) {
            queue.take();
            handle(batch);
        }
        if (queue.hasRecords() && queue.isOldestOpen()) {
            lingering.add(queue);
        } else {
            lingering.remove(queue); // nothing there, or its last writer will hand it over
        }
    }

    private void handle(FinishedBatch batch) {
        batches++;
        boolean faulty = batches == FAULTY_BATCH;
        if (fault == Fault.SWAP_BATCHES && batches >= FAULTY_BATCH && heldBack == null) {
            heldBack = batch;
            return;
        }
        if (!faulty || fault != Fault.LOSE_A_BATCH) {
            read(batch);
        }
        if (faulty && fault == Fault.READ_A_BATCH_TWICE) {
            read(batch);
        }
        complete(batch, faulty);
        if (heldBack != null && heldBack.partition().equals(batch.partition())) {
            FinishedBatch late = heldBack;
            heldBack = null;
            read(late);
            complete(late, false);
        }
    }

    private void read(FinishedBatch batch) {
        batch.stamp(1, (short) 0, 0);
        for (String value : ReadBack.values(batch)) {
            int[] writerAndNumber = PartitionQueueStressTest.parse(value.getBytes(StandardCharsets.UTF_8));
            takenByWriter.merge(writerAndNumber[0], 1, Integer::sum);
            String source = writerAndNumber[0] + " in " + batch.partition();
            Integer before = lastByWriterAndPartition.put(source, writerAndNumber[1]);
            assertThat(writerAndNumber[1])
                    .as("the record of writer %s after its record %s", source, before)
                    .isGreaterThan(before == null ? -1 : before);
        }
    }

    private void complete(FinishedBatch batch, boolean faulty) {
        batch.decide(0, -1, null);
        if (!faulty || fault != Fault.FORGET_TO_DELIVER) {
            batch.deliver();
        }
        if (!faulty || fault != Fault.KEEP_MEMORY) {
            Arrays.fill(batch.buffer(), (byte) -1); // makes later writes and reads of this memory visible
            batch.release();
        }
    }

    /** How many records of this writer came out. */
    int taken(int writer) {
        return takenByWriter.getOrDefault(writer, 0);
    }
}
