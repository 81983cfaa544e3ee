package dev.millrace.client.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.accumulator.Seed;
import dev.millrace.client.accumulator.Workers;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.Test;

/**
 * Threads take and give back memory of all sizes; some of them time out or are interrupted. Never is more in use than
 * there is, and no thread waits forever. Two pools with one weakness each show that the test would notice both.
 */
class BufferPoolStressTest {
    private static final int TOTAL = 1_000;
    private static final int BATCH_SIZE = 100;

    /** A twin without progress for this long counts as hung. */
    private static final long TWIN_HANG_NS = TimeUnit.SECONDS.toNanos(1);

    /** A pool as its users see it. */
    interface Memory {
        byte[] acquire(int size, long maxBlockMs) throws InterruptedException;

        void release(byte[] buffer);

        long available();
    }

    @Test
    void shouldNeverGiveMoreThanThereIsWhenManyTakeAndGive() throws InterruptedException {
        useHeavily("BufferPoolStressTest", new RealPool(), 6_000);
    }

    @Test
    void shouldObjectWhenThePoolReservesWithoutCompareAndSet() {
        assertThatThrownBy(() -> useHeavily("BufferPoolStressTest/twin", new RacyPool(), 1_000_000))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("in use");
    }

    @Test
    void shouldWakeEveryWaiterWhenMemoryForOnlyOneChangesHands() throws InterruptedException {
        PoolForOne pool = new PoolForOne(false);
        AtomicInteger rounds = new AtomicInteger();
        Workers workers = new Workers()
                .add(3, () -> {
                    for (int i = 0; i < 5_000; i++) {
                        pool.takeAndGive();
                        rounds.incrementAndGet();
                    }
                })
                .start();

        workers.join();

        assertThat(rounds).hasValue(15_000);
    }

    @Test
    void shouldHangWhenTheReleaserLooksForWaitersTooEarly() throws InterruptedException {
        PoolForOne pool = new PoolForOne(true);
        AtomicInteger rounds = new AtomicInteger();
        AtomicBoolean stop = new AtomicBoolean();
        Workers workers = new Workers()
                .add(2, () -> {
                    while (!stop.get() && pool.takeAndGive()) {
                        rounds.incrementAndGet();
                    }
                })
                .start();

        boolean hung = standsStill(rounds);

        stop.set(true);
        pool.waiters.close();
        workers.join();
        assertThat(hung).as("a wake-up was missed").isTrue();
    }

    /** Whether within a minute a second goes by without any progress. */
    private static boolean standsStill(AtomicInteger progress) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Workers.HANG_MS);
        int seen = -1;
        long since = System.nanoTime();
        while (System.nanoTime() - deadline < 0) {
            if (progress.get() != seen) {
                seen = progress.get();
                since = System.nanoTime();
            } else if (System.nanoTime() - since > TWIN_HANG_NS) {
                return true;
            }
            LockSupport.parkNanos(1_000_000);
        }
        return false;
    }

    private static void useHeavily(String name, Memory memory, int times) throws InterruptedException {
        Random seeds = Seed.random(name);
        AtomicLong inUse = new AtomicLong();
        Workers workers = new Workers();
        for (int t = 0; t < 4; t++) {
            Random random = new Random(seeds.nextLong());
            workers.add(1, () -> {
                for (int i = 0; i < times && !workers.hasFailed(); i++) {
                    use(memory, random, inUse);
                }
            });
        }
        workers.start().join();
        assertThat(inUse).hasValue(0);
        assertThat(memory.available()).isEqualTo(TOTAL);
    }

    private static void use(Memory memory, Random random, AtomicLong inUse) {
        int size = random.nextInt(8) == 0 ? 100 + random.nextInt(800) : 1 + random.nextInt(100);
        long maxBlockMs = random.nextInt(10) == 0 ? random.nextInt(2) : Workers.HANG_MS;
        boolean interrupted = random.nextInt(50) == 0;
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        byte[] buffer;
        try {
            buffer = memory.acquire(size, maxBlockMs);
        } catch (InterruptedException e) {
            assertThat(interrupted).isTrue();
            return;
        } catch (BufferExhaustedException e) {
            assertThat(maxBlockMs).isLessThan(Workers.HANG_MS);
            return;
        } finally {
            Thread.interrupted();
        }
        assertThat(inUse.addAndGet(buffer.length)).as("bytes in use").isLessThanOrEqualTo(TOTAL);
        for (int spin = random.nextInt(50); spin > 0; spin--) {
            Thread.onSpinWait();
        }
        inUse.addAndGet(-buffer.length);
        memory.release(buffer);
    }

    private static final class RealPool implements Memory {
        private final BufferPool pool = new BufferPool(TOTAL, BATCH_SIZE, () -> {});

        @Override
        public byte[] acquire(int size, long maxBlockMs) throws InterruptedException {
            return pool.acquire(size, maxBlockMs, () -> true);
        }

        @Override
        public void release(byte[] buffer) {
            pool.release(buffer);
        }

        @Override
        public long available() {
            return pool.available();
        }
    }

    /** Checks whether there is enough, then takes it: two threads may take the same memory. */
    private static final class RacyPool implements Memory {
        private final AtomicLong available = new AtomicLong(TOTAL);

        @Override
        public byte[] acquire(int size, long maxBlockMs) {
            int wanted = Math.max(size, BATCH_SIZE);
            while (available.get() < wanted) {
                Thread.onSpinWait();
            }
            Workers.hold();
            available.addAndGet(-wanted);
            return new byte[wanted];
        }

        @Override
        public void release(byte[] buffer) {
            available.addAndGet(buffer.length);
        }

        @Override
        public long available() {
            return available.get();
        }
    }

    /**
     * Memory for one; a waiter checks only when woken. As a twin it checks for waiters before it gives back, not after.
     */
    private static final class PoolForOne {
        private final boolean looksEarly;
        private final AtomicInteger available = new AtomicInteger(1);
        private final MemoryWaiters waiters = new MemoryWaiters(
                size -> available.compareAndSet(1, 0), () -> available.get() < 1, () -> {}, Long.MAX_VALUE);

        PoolForOne(boolean looksEarly) {
            this.looksEarly = looksEarly;
        }

        /** False when closed. */
        boolean takeAndGive() throws InterruptedException {
            try {
                if (!waiters.isEmpty() || !available.compareAndSet(1, 0)) {
                    waiters.await(1, Long.MAX_VALUE, () -> true);
                }
            } catch (KafkaException e) {
                return false;
            }
            boolean someoneWaits = !waiters.isEmpty();
            if (looksEarly) {
                Workers.hold();
            }
            available.set(1);
            if (looksEarly ? someoneWaits : !waiters.isEmpty()) {
                waiters.wakeFirst();
            }
            return true;
        }
    }
}
