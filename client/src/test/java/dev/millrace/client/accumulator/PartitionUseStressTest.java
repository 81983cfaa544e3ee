package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.memory.BufferPool;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** The count of partitions in use, when the last batch of one is taken just as its next is opened. */
class PartitionUseStressTest {
    private static final int ROUNDS = 20_000;

    private final AtomicInteger opened = new AtomicInteger();
    private final AtomicInteger taken = new AtomicInteger();
    private final BufferPool pool = new BufferPool(1, 1, () -> {});

    /** The mark of the twins. */
    private final AtomicBoolean counted = new AtomicBoolean();

    /** Twice the number of times that the two threads have met. */
    private final AtomicInteger meetings = new AtomicInteger();

    @Test
    void shouldCountAPartitionExactlyWhileItHasRecords() throws InterruptedException {
        PartitionUse use = new PartitionUse(this::hasRecords, pool);

        openAndTakeSideBySide("PartitionUseStressTest", use::update);
    }

    @Test
    void shouldBeNoticedWhenWhoChangesTheMarkDoesNotLookAgain() {
        assertThatThrownBy(() -> openAndTakeSideBySide("PartitionUseStressTest/twin", this::updateWithoutCheckingAgain))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("partitions in use");
    }

    @Test
    void shouldNeverCountFewerThanNone() throws InterruptedException {
        PartitionUse use = new PartitionUse(this::hasRecords, pool);

        takeWhatIsBeingOpened("PartitionUseStressTest/none", use::update);
    }

    @Test
    void shouldBeNoticedWhenThePartitionIsMarkedBeforeItIsCounted() {
        assertThatThrownBy(() -> takeWhatIsBeingOpened("PartitionUseStressTest/lateTwin", this::updateMarkBeforeCount))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("partitions in use");
    }

    private boolean hasRecords() {
        return opened.get() > taken.get();
    }

    /** In each round the only batch is taken while another one is opened. */
    private void openAndTakeSideBySide(String name, Runnable update) throws InterruptedException {
        Random seeds = Seed.random(name);
        Random openersPause = new Random(seeds.nextLong());
        Random takersPause = new Random(seeds.nextLong());
        opened.incrementAndGet();
        update.run();
        Workers workers = new Workers();
        workers.add(1, () -> {
            for (int round = 0; round < ROUNDS; round++) {
                meet(workers);
                pause(openersPause);
                opened.incrementAndGet();
                update.run();
                meet(workers);
            }
        });
        workers.add(1, () -> {
            for (int round = 0; round < ROUNDS; round++) {
                meet(workers);
                pause(takersPause);
                taken.incrementAndGet();
                update.run();
                meet(workers);
                assertThat(pool.partitionsInUse())
                        .as("partitions in use, round " + round)
                        .isEqualTo(1);
            }
        });

        workers.start().join();

        taken.incrementAndGet();
        update.run();
        assertThat(pool.partitionsInUse()).as("partitions in use in the end").isZero();
    }

    /** In each round the first batch is taken as soon as it is there, while the thread that opened it still counts. */
    private void takeWhatIsBeingOpened(String name, Runnable update) throws InterruptedException {
        Random openersPause = Seed.random(name);
        Workers workers = new Workers();
        workers.add(1, () -> {
            for (int round = 0; round < ROUNDS; round++) {
                meet(workers);
                pause(openersPause);
                opened.incrementAndGet();
                update.run();
            }
        });
        workers.add(1, () -> {
            for (int round = 0; round < ROUNDS; round++) {
                meet(workers);
                while (!hasRecords() && !workers.hasFailed()) {
                    Thread.onSpinWait();
                }
                taken.incrementAndGet();
                update.run();
                assertThat(pool.partitionsInUse())
                        .as("partitions in use, round " + round)
                        .isNotNegative();
            }
        });

        workers.start().join();

        assertThat(pool.partitionsInUse()).as("partitions in use in the end").isZero();
    }

    private void meet(Workers workers) {
        int both = (meetings.getAndIncrement() / 2 + 1) * 2;
        for (int spin = 0; meetings.get() < both && !workers.hasFailed(); spin++) {
            if (spin < 1_000) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(1); // the other needs the core
            }
        }
    }

    private static void pause(Random random) {
        for (int spin = random.nextInt(100); spin > 0; spin--) {
            Thread.onSpinWait();
        }
    }

    /** The twin that checks only once. */
    private void updateWithoutCheckingAgain() {
        boolean has = hasRecords();
        Workers.hold();
        if (counted.compareAndSet(!has, has)) {
            pool.addPartitionsInUse(has ? 1 : -1);
        }
    }

    /** The twin that marks the partition first and counts it afterwards. */
    private void updateMarkBeforeCount() {
        boolean has = hasRecords();
        while (counted.get() != has && counted.compareAndSet(!has, has)) {
            if (has) {
                letTheOtherDiscount();
            }
            pool.addPartitionsInUse(has ? 1 : -1);
            has = hasRecords();
        }
    }

    /** Bounded, because the other thread may have looked before the partition was marked. */
    private void letTheOtherDiscount() {
        for (int i = 0; i < 200 && pool.partitionsInUse() >= 0; i++) {
            LockSupport.parkNanos(10_000);
        }
    }
}
