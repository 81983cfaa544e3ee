package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * One thread offers, another one empties the queue and falls asleep, repeatedly, so that each offer races with falling
 * asleep. The selector is a semaphore: like the selector, it remembers a wake-up that comes before the wait. A
 * missed wake-up shows as a wait that does not end.
 *
 * <p>The twin checks whether there is something to do before it announces its sleep, not after. There is no twin that
 * only lacks the full fence: on x86 both the queue's compare-and-set and the volatile store of {@code sleepUntil} are
 * full fences themselves, so it could not fail here.
 */
class ReadyQueueStressTest {
    private static final int HAND_OVERS = 60_000;

    /** The ready queue's methods for both sides. */
    interface HandOver {
        void onWake(Runnable wakeUp);

        void offer();

        boolean poll();

        boolean trySleep();

        void markAwake();
    }

    @Test
    void shouldMissNoWakeUpWhenOffersMeetFallingAsleep() throws InterruptedException {
        boolean missed = missesAWakeUp("ReadyQueueStressTest", new Real(), HAND_OVERS, Workers.HANG_MS / 3);

        assertThat(missed).isFalse();
    }

    @Test
    void shouldMissAWakeUpWhenTheSleeperLooksBeforeItAnnounces() throws InterruptedException {
        boolean missed = missesAWakeUp("ReadyQueueStressTest/twin", new LooksTooEarly(), 5_000_000, 1_000);

        assertThat(missed).isTrue();
    }

    private static boolean missesAWakeUp(String name, HandOver handOver, int times, long boundMs)
            throws InterruptedException {
        Random random = Seed.random(name);
        Semaphore selector = new Semaphore(0);
        AtomicInteger taken = new AtomicInteger();
        AtomicInteger offered = new AtomicInteger();
        AtomicInteger missed = new AtomicInteger();
        handOver.onWake(selector::release);
        Workers workers = new Workers()
                .add(1, () -> {
                    for (int i = 1; i <= times && missed.get() == 0; i++) {
                        offered.set(i);
                        handOver.offer();
                        while (taken.get() < i && missed.get() == 0) {
                            Thread.onSpinWait();
                        }
                        for (int spin = random.nextInt(60); spin > 0; spin--) {
                            Thread.onSpinWait();
                        }
                    }
                })
                .add(1, () -> {
                    while (taken.get() < times && missed.get() == 0) {
                        workOff(handOver, taken);
                        if (taken.get() < times && handOver.trySleep()) {
                            if (!selector.tryAcquire(boundMs, TimeUnit.MILLISECONDS) && taken.get() < offered.get()) {
                                missed.incrementAndGet();
                            }
                            selector.drainPermits();
                            handOver.markAwake();
                        }
                    }
                });
        workers.start().join();
        return missed.get() > 0;
    }

    private static void workOff(HandOver handOver, AtomicInteger taken) {
        while (handOver.poll()) {
            taken.incrementAndGet();
        }
    }

    private static final class Real implements HandOver {
        private final ReadyQueue ready = new ReadyQueue();
        private final PartitionQueue partition = new TestAccumulator(1_000, 100).queue(0);

        @Override
        public void onWake(Runnable wakeUp) {
            ready.onWake(wakeUp);
        }

        @Override
        public void offer() {
            ready.offer(partition, 1_000);
        }

        @Override
        public boolean poll() {
            return ready.poll() != null;
        }

        @Override
        public boolean trySleep() {
            return ready.trySleep(Long.MAX_VALUE);
        }

        @Override
        public void markAwake() {
            ready.markAwake();
        }
    }

    private static final class LooksTooEarly implements HandOver {
        private static final long AWAKE = Long.MIN_VALUE;

        private final ConcurrentLinkedQueue<Integer> queue = new ConcurrentLinkedQueue<>();
        private final AtomicLong sleepUntil = new AtomicLong(AWAKE);
        private volatile Runnable wakeUp;

        @Override
        public void onWake(Runnable selectorWakeUp) {
            wakeUp = selectorWakeUp;
        }

        @Override
        public void offer() {
            queue.add(1);
            long until = sleepUntil.get();
            if (until > 1_000 && sleepUntil.compareAndSet(until, AWAKE)) {
                wakeUp.run();
            }
        }

        @Override
        public boolean poll() {
            return queue.poll() != null;
        }

        @Override
        public boolean trySleep() {
            if (!queue.isEmpty()) {
                return false;
            }
            Workers.hold();
            sleepUntil.set(Long.MAX_VALUE);
            return true;
        }

        @Override
        public void markAwake() {
            sleepUntil.set(AWAKE);
        }
    }
}
