package dev.millrace.client.architecture;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** A send path that does, one call away from {@link #send}, everything that the real one must not do. */
final class SendPathFixtures {
    private final ReentrantLock lock = new ReentrantLock();
    private final CountDownLatch latch = new CountDownLatch(0);
    private final ConcurrentHashMap<String, String> map = new ConcurrentHashMap<>();
    private final Step step = new LockingStep();
    private int count;

    /** Overridden by a class that locks. */
    interface Step {
        void take();
    }

    final class LockingStep implements Step {
        @Override
        public void take() {
            lock.lock();
            try {
                count++;
            } finally {
                lock.unlock();
            }
        }
    }

    void send(LongSupplier clock) throws InterruptedException {
        synchronizedMethod();
        synchronizedBlock();
        blockInLambda();
        step.take();
        latch.await();
        LockSupport.parkNanos(1);
        String before = map.put("", "");
        count += (int) clock.getAsLong() + (before == null ? 0 : 1);
        Runnable reference = this::onlyReferred;
        count += reference.hashCode();
        slowPath();
    }

    private synchronized void synchronizedMethod() {
        count++;
    }

    private void synchronizedBlock() {
        synchronized (map) {
            count++;
        }
    }

    private void blockInLambda() {
        Supplier<Integer> lambda = () -> {
            synchronized (map) {
                return count++;
            }
        };
        count += lambda.hashCode();
    }

    private synchronized void onlyReferred() {
        count++;
    }

    private synchronized void slowPath() {
        count++;
    }

    void allowed() {
        count++;
        harmless(map.get(""));
    }

    private void harmless(String value) {
        count += value == null ? 0 : value.length();
    }

    synchronized void notReached() {
        count++;
    }
}
