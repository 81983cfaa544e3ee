package dev.millrace.client.memory;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.function.LongConsumer;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.KafkaException;

/**
 * The threads that wait for memory, served in the order of their arrival, so that small requests do not starve a large
 * one. This is the slow path: it may lock.
 *
 * <p><b>Threads:</b> any.
 * <p><b>Ordering:</b> {@code bytesForFirst} is set before the first waiter checks the memory; see {@link BufferPool}.
 * {@code bytesWanted} is written under the lock; a thread that reads a sum without some waiter came before that waiter.
 */
final class MemoryWaiters {
    private final IntPredicate tryTakeForFirst;
    private final BooleanSupplier isShort;
    private final Runnable requestEarlySend;
    private final long recheckNs;
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Waiter> queue = new ArrayDeque<>();
    private boolean closed;
    private volatile int bytesForFirst;
    private final AtomicLong bytesWanted = new AtomicLong();
    private volatile LongConsumer waitListener = nanoseconds -> {};

    /**
     * The first waiter checks every {@code recheckNs} whether there is enough memory, even if no thread has woken it.
     */
    MemoryWaiters(IntPredicate tryTakeForFirst, BooleanSupplier isShort, Runnable requestEarlySend, long recheckNs) {
        this.recheckNs = recheckNs;
        this.tryTakeForFirst = tryTakeForFirst;
        this.isShort = isShort;
        this.requestEarlySend = requestEarlySend;
    }

    boolean isEmpty() {
        return bytesForFirst == 0;
    }

    /** Sets the listener of every wait, in nanoseconds; the thread that waited calls it. */
    void setWaitListener(LongConsumer listener) {
        waitListener = listener;
    }

    /** How many threads wait. */
    int count() {
        lock.lock();
        try {
            return queue.size();
        } finally {
            lock.unlock();
        }
    }

    /** Bytes that all waiters need. */
    long bytesWanted() {
        return bytesWanted.get();
    }

    /** Bytes that the first waiter needs; 0 if no thread waits. */
    int bytesForFirst() {
        return bytesForFirst;
    }

    /**
     * Blocks until {@code size} bytes are reserved for the caller.
     *
     * @param stillNeeded false once the caller's record found room elsewhere
     * @return false if nothing is reserved because it was no longer needed
     */
    boolean await(int size, long maxBlockMs, BooleanSupplier stillNeeded) throws InterruptedException {
        long remainingNs = TimeUnit.MILLISECONDS.toNanos(maxBlockMs);
        lock.lockInterruptibly();
        try {
            Waiter self = new Waiter(size, lock.newCondition(), stillNeeded);
            queue.addLast(self);
            bytesWanted.addAndGet(size);
            publishFirst();
            try {
                if (isFirst(self)) {
                    requestEarlySend.run();
                }
                while (stillNeeded.getAsBoolean()) {
                    if (closed) {
                        throw new KafkaException("Producer closed while a record waited for memory");
                    }
                    if (isFirst(self) && tryTakeForFirst.test(size)) {
                        return true;
                    }
                    if (remainingNs <= 0) {
                        throw new BufferExhaustedException("Failed to allocate " + size + " bytes within the configured"
                                + " max blocking time " + maxBlockMs + " ms; buffer.memory is used up.");
                    }
                    remainingNs -= awaitTurn(self.turn, isFirst(self) ? Math.min(remainingNs, recheckNs) : remainingNs);
                }
                return false;
            } finally {
                queue.remove(self);
                bytesWanted.addAndGet(-size);
                publishFirst();
                signalFirst(); // it may be served now, and must check from now on
                if (isShort.getAsBoolean()) {
                    requestEarlySend.run();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    @SuppressWarnings("ReferenceEquality") // waiters are compared by identity
    private boolean isFirst(Waiter self) {
        return queue.peekFirst() == self;
    }

    /** Returns how long it waited, nanoseconds. */
    @SuppressWarnings({"WaitNotInLoop", "ReturnValueIgnored"}) // the caller loops and checks the time
    private long awaitTurn(Condition turn, long maxNs) throws InterruptedException {
        long startNs = System.nanoTime();
        long waitedNs;
        try {
            turn.awaitNanos(maxNs);
        } finally {
            waitedNs = System.nanoTime() - startNs;
            waitListener.accept(waitedNs);
        }
        return waitedNs;
    }

    /**
     * Wakes waiters that need no memory any more because another thread opened the batch that they would have opened.
     */
    void wakeNoLongerNeeding() {
        lock.lock();
        try {
            for (Waiter waiter : queue) {
                if (!waiter.stillNeeded.getAsBoolean()) {
                    waiter.turn.signal();
                }
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
            queue.forEach(waiter -> waiter.turn.signal());
        } finally {
            lock.unlock();
        }
    }

    private void publishFirst() {
        bytesForFirst = queue.isEmpty() ? 0 : queue.peekFirst().size;
    }

    private void signalFirst() {
        if (!queue.isEmpty()) {
            queue.peekFirst().turn.signal();
        }
    }

    private static final class Waiter {
        private final int size;
        private final Condition turn;
        private final BooleanSupplier stillNeeded;

        Waiter(int size, Condition turn, BooleanSupplier stillNeeded) {
            this.size = size;
            this.turn = turn;
            this.stillNeeded = stillNeeded;
        }
    }
}
