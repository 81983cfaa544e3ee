package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * Threads rush through a gate that is opened and closed: once it is closed and empty, no thread may be inside.
 */
class SendGateStressTest {
    private static final int THREADS = 4;
    private static final int ROUNDS = 100;
    private static final int TWIN_ROUNDS = 100_000;
    private static final int LOOKS = 3;

    /** A thread stays inside for some microseconds, or hardly any look would meet it there. */
    private static final int SPINS_INSIDE = 100;

    @Test
    void shouldLetNobodyBeInsideWhenItIsClosedAndEmpty() throws InterruptedException {
        SendGate gate = new SendGate(() -> {});

        int leaks = run(
                new Gate() {
                    @Override
                    public boolean tryEnter() {
                        return gate.tryEnter();
                    }

                    @Override
                    public void exit() {
                        gate.exit();
                    }

                    @Override
                    public void setOpen(boolean open) {
                        if (open) {
                            gate.open();
                        } else {
                            gate.close();
                        }
                    }

                    @Override
                    public boolean isEmpty() {
                        return gate.isEmpty();
                    }
                },
                ROUNDS);

        assertThat(leaks).isZero();
    }

    @Test
    void shouldFindWhoSlipsInWhenAGateLooksBeforeItCounts() throws InterruptedException {
        assertThat(run(new WeakGate(), TWIN_ROUNDS)).isPositive();
    }

    /** Whether a thread was inside although the gate had been closed and found empty: 1 if so. */
    private static int run(Gate gate, int rounds) throws InterruptedException {
        AtomicIntegerArray inside = new AtomicIntegerArray(THREADS * 16);
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            int slot = t * 16;
            Thread thread = new Thread(() -> {
                while (!Thread.currentThread().isInterrupted()) {
                    if (gate.tryEnter()) {
                        inside.setPlain(slot, 1);
                        for (int spin = 0; spin < SPINS_INSIDE; spin++) {
                            Thread.onSpinWait();
                        }
                        inside.setPlain(slot, 0);
                        gate.exit();
                    }
                }
            });
            threads.add(thread);
            thread.start();
        }
        int leaks = 0;
        for (int round = 0; round < rounds && leaks == 0; round++) {
            gate.setOpen(true);
            LockSupport.parkNanos(1);
            gate.setOpen(false);
            while (!gate.isEmpty()) {
                Thread.onSpinWait();
            }
            if (someoneInside(inside)) {
                leaks++;
            }
        }
        for (Thread thread : threads) {
            thread.interrupt();
            thread.join(TimeUnit.SECONDS.toMillis(60));
            assertThat(thread.isAlive()).isFalse();
        }
        return leaks;
    }

    private static boolean someoneInside(AtomicIntegerArray inside) {
        boolean found = false;
        for (int look = 0; look < LOOKS; look++) {
            LockSupport.parkNanos(1);
            for (int t = 0; t < THREADS; t++) {
                found |= inside.get(t * 16) != 0;
            }
        }
        return found;
    }

    private interface Gate {
        boolean tryEnter();

        void exit();

        void setOpen(boolean open);

        boolean isEmpty();
    }

    /** The twin: a thread that is slow between its check and its count is missed. */
    private static final class WeakGate implements Gate {
        private final LongAdder entered = new LongAdder();
        private final LongAdder exited = new LongAdder();
        private volatile boolean open;

        @Override
        public boolean tryEnter() {
            if (!open) {
                return false;
            }
            LockSupport.parkNanos(1);
            entered.increment();
            return true;
        }

        @Override
        public void exit() {
            exited.increment();
        }

        @Override
        public void setOpen(boolean now) {
            open = now;
        }

        @Override
        public boolean isEmpty() {
            long out = exited.sum();
            return out == entered.sum();
        }
    }
}
