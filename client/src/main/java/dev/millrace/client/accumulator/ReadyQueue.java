package dev.millrace.client.accumulator;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jctools.queues.MpscUnboundedArrayQueue;

/**
 * The only hand-over from the application's threads to an I/O thread: partitions with a batch that was opened or
 * finished.
 *
 * <p><b>Threads:</b> {@code offer} and {@code wake} by any thread; the rest by the I/O thread.
 * <p><b>Ordering:</b> the offering thread adds the partition, executes a full fence, then reads {@code sleepUntil}; the
 * I/O thread writes {@code sleepUntil}, executes a full fence, then checks whether the queue is empty. One of the two
 * sees the other's write. {@code wake} does the same with {@code wanted} in place of the queue. {@code missed} is set
 * before such a wake-up, and cleared before the I/O thread looks at all partitions.
 *
 * <p>Only the thread that changes {@code sleepUntil} from asleep to awake pays for the selector's wake-up, and no
 * thread does while the I/O thread is busy or will wake in time by itself.
 */
public final class ReadyQueue {
    private static final long AWAKE = Long.MIN_VALUE;
    private static final int CHUNK = 1024;
    private static final VarHandle SLEEP_UNTIL;

    static {
        try {
            SLEEP_UNTIL = MethodHandles.lookup().findVarHandle(ReadyQueue.class, "sleepUntil", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final MpscUnboundedArrayQueue<PartitionQueue> queue;
    private volatile long sleepUntil = AWAKE;
    private volatile boolean wanted;
    private volatile boolean missed;
    private volatile Runnable wakeUp = () -> {};

    /** Creates an empty queue. */
    public ReadyQueue() {
        this(new MpscUnboundedArrayQueue<>(CHUNK));
    }

    ReadyQueue(MpscUnboundedArrayQueue<PartitionQueue> queue) {
        this.queue = queue;
    }

    /** Sets the action that interrupts the I/O thread's wait. */
    public void onWake(Runnable selectorWakeUp) {
        wakeUp = selectorWakeUp;
    }

    /** Hands over a partition that the I/O thread must look at by {@code dueMs} on the monotonic clock. */
    void offer(PartitionQueue partition, long dueMs) {
        try {
            queue.offer(partition);
        } catch (OutOfMemoryError e) { // the queue is as before, but the partition's records are in their batch
            missed = true;
            wake();
        }
        VarHandle.fullFence();
        wakeIfAsleepPast(dueMs);
    }

    /** Ends the I/O thread's wait if it waits. Call it only after an {@link #offer}, which prevents its next wait. */
    void wakeIfAsleep() {
        wakeIfAsleepPast(AWAKE);
    }

    private void wakeIfAsleepPast(long dueMs) {
        long until = sleepUntil;
        if (until > dueMs && SLEEP_UNTIL.compareAndSet(this, until, AWAKE)) {
            wakeUp.run();
        }
    }

    /** Ends the I/O thread's wait, or prevents its next one; for events that do not come through the queue. */
    public void wake() {
        wanted = true;
        VarHandle.fullFence();
        wakeIfAsleep();
    }

    /** Returns the next partition; null if the queue is empty. */
    public PartitionQueue poll() {
        return queue.poll();
    }

    /**
     * Whether, since the last call, the queue had no memory for a partition: then any partition may have something to
     * do.
     */
    public boolean pollMissed() {
        boolean any = missed;
        if (any) {
            missed = false;
        }
        return any;
    }

    /**
     * Announces that the I/O thread is about to wait.
     *
     * @return false if there is something to do instead
     */
    public boolean trySleep(long untilMs) {
        sleepUntil = untilMs;
        VarHandle.fullFence();
        if (queue.isEmpty() && !wanted) {
            return true;
        }
        sleepUntil = AWAKE;
        wanted = false; // clear before handling the wake-up
        return false;
    }

    /** The I/O thread no longer waits. */
    public void markAwake() {
        sleepUntil = AWAKE;
    }
}
