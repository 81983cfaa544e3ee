package dev.millrace.client.accumulator;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntPredicate;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.KafkaException;

/**
 * The threads that found no memory, served in the order of their arrival, so that a large request is not starved by
 * small ones. This is the slow path: it may lock.
 *
 * <p><b>Threads:</b> any.
 * <p><b>Ordering:</b> {@code count} is raised before the first look at the memory; see {@link BufferPool}.
 */
final class MemoryWaiters {
    private final IntPredicate tryReserve;
    private final Runnable onPressure;
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Condition> queue = new ArrayDeque<>();
    private boolean closed;
    private volatile int count;

    MemoryWaiters(IntPredicate tryReserve, Runnable onPressure) {
        this.tryReserve = tryReserve;
        this.onPressure = onPressure;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** Returns once {@code size} bytes are reserved for the caller. */
    void await(int size, long maxBlockMs) throws InterruptedException {
        long remainingNs = TimeUnit.MILLISECONDS.toNanos(maxBlockMs);
        lock.lockInterruptibly();
        try {
            Condition turn = lock.newCondition();
            queue.addLast(turn);
            count = queue.size();
            onPressure.run();
            try {
                while (closed || queue.peekFirst() != turn || !tryReserve.test(size)) {
                    if (closed) {
                        throw new KafkaException("Producer closed while a record waited for memory");
                    }
                    if (remainingNs <= 0) {
                        throw new BufferExhaustedException("Failed to allocate " + size + " bytes within the configured"
                                + " max blocking time " + maxBlockMs + " ms; buffer.memory is used up.");
                    }
                    remainingNs = turn.awaitNanos(remainingNs);
                }
            } finally {
                queue.remove(turn);
                count = queue.size();
                signalFirst();
            }
        } finally {
            lock.unlock();
        }
    }

    void wakeFirst() {
        lock.lock();
        try {
            signalFirst();
        } finally {
            lock.unlock();
        }
    }

    void close() {
        lock.lock();
        try {
            closed = true;
            queue.forEach(Condition::signal);
        } finally {
            lock.unlock();
        }
    }

    private void signalFirst() {
        if (!queue.isEmpty()) {
            queue.peekFirst().signal();
        }
    }
}
