package dev.millrace.client.memory;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
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
    private final SignalLock lock = new SignalLock();

    /**
     * The first of the waiters, which are linked to each other so that the queue needs no memory of its own: an
     * ArrayDeque that cannot grow looks empty afterwards. Each waits for a condition of the lock, so that signalled
     * threads continue one after the other: if all are woken at once, as by {@code LockSupport.unpark}, 32 threads send
     * a third fewer records.
     */
    private Waiter first;

    private Waiter last;
    private int count;
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

    /** Returns how many threads wait. */
    int count() {
        lock.lock();
        try {
            return count;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the bytes that all waiters need. */
    long bytesWanted() {
        return bytesWanted.get();
    }

    /** Returns the bytes that the first waiter needs; 0 if no thread waits. */
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
            add(self);
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
                remove(self);
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

    private void add(Waiter waiter) {
        if (last == null) {
            first = waiter;
        } else {
            last.next = waiter;
        }
        last = waiter;
        count++;
    }

    @SuppressWarnings("ReferenceEquality") // waiters are compared by identity
    private void remove(Waiter waiter) {
        Waiter before = null;
        for (Waiter each = first; each != waiter; each = each.next) {
            before = each;
        }
        if (before == null) {
            first = waiter.next;
        } else {
            before.next = waiter.next;
        }
        if (last == waiter) {
            last = before;
        }
        count--;
    }

    @SuppressWarnings("ReferenceEquality") // waiters are compared by identity
    private boolean isFirst(Waiter self) {
        return first == self;
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

    /** Wakes waiters that no longer need memory because another thread opened the batch that they would have opened. */
    void wakeNoLongerNeeding() {
        lock.lock();
        try {
            for (Waiter waiter = first; waiter != null; waiter = waiter.next) {
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
            for (Waiter waiter = first; waiter != null; waiter = waiter.next) {
                waiter.turn.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    private void publishFirst() {
        bytesForFirst = first == null ? 0 : first.size;
    }

    private void signalFirst() {
        if (first != null) {
            first.turn.signal();
        }
    }

    private static final class Waiter {
        private final int size;
        private final Condition turn;
        private final BooleanSupplier stillNeeded;

        /** The next waiter; null in the last one. */
        private Waiter next;

        Waiter(int size, Condition turn, BooleanSupplier stillNeeded) {
            this.size = size;
            this.turn = turn;
            this.stillNeeded = stillNeeded;
        }
    }
}
