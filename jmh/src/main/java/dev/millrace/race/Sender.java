package dev.millrace.race;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * What one thread sends. As fast as it goes, one send in {@value #SENDS_PER_TIMED} on average is timed, at random: reading the clock
 * twice for each would cost as much as some of what is measured.
 *
 * <p>At a given rate each send has an intended start, and all are timed. One that comes due while its thread is held up in
 * an earlier send is timed from its intended start, so that a stall counts for all that should have been sent meanwhile
 * (without that, coordinated omission). Between sends the thread sleeps for a millisecond or more, as the machine's cores
 * are the producer's; one that comes due in that sleep is timed from when the thread gets to it, as the sleep is not the
 * producer's doing.
 *
 * <p><b>Threads:</b> its own until that has ended; then the one that joined it.
 */
final class Sender {
    static final double UNLIMITED = 0;
    private static final int SENDS_PER_TIMED = 16;
    private static final long SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long LONGEST_NANOS = TimeUnit.HOURS.toNanos(1);
    private static final ThreadMXBean THREADS = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

    private final Producer<byte[], byte[]> producer;
    private final ProducerRecord<byte[], byte[]>[] records;
    private final long count;
    private final Pace pace;
    private final AckMeter acks;
    private final Histogram times = histogram();
    private final SplittableRandom random = new SplittableRandom();
    private int next;
    private int untilTimed;
    private int untilSampled;
    private long allocatedBytes;
    private RuntimeException failure;

    /**
     * @param count how many to send
     * @param timed whether to time some; else neither this class nor its callbacks read the clock
     */
    Sender(
            Producer<byte[], byte[]> producer,
            List<ProducerRecord<byte[], byte[]>> records,
            long count,
            Pace pace,
            AckMeter acks,
            boolean timed) {
        this.producer = producer;
        this.records = array(records);
        this.count = count;
        this.pace = pace;
        this.acks = acks;
        untilTimed = timed ? 1 : Integer.MAX_VALUE;
        untilSampled = untilTimed;
    }

    /**
     * When to send.
     *
     * @param rate records a second of this thread, or {@link #UNLIMITED}
     * @param phase how much of an interval to start late, so that not all threads send at once
     */
    record Pace(double rate, double phase) {}

    @SuppressWarnings("unchecked")
    private static ProducerRecord<byte[], byte[]>[] array(List<ProducerRecord<byte[], byte[]>> records) {
        return records.toArray(ProducerRecord[]::new);
    }

    static Histogram histogram() {
        return new Histogram(LONGEST_NANOS, 3);
    }

    void run(CyclicBarrier start) {
        try {
            start.await();
            long before = THREADS.getCurrentThreadAllocatedBytes();
            if (pace.rate == UNLIMITED) {
                sendUnlimited();
            } else {
                sendPaced();
            }
            allocatedBytes = THREADS.getCurrentThreadAllocatedBytes() - before;
        } catch (RuntimeException e) {
            failure = e;
        } catch (BrokenBarrierException | InterruptedException e) {
            failure = new IllegalStateException(e);
        }
    }

    private void sendUnlimited() {
        for (long i = 0; i < count; i++) {
            if (--untilTimed > 0) {
                send();
            } else {
                long start = System.nanoTime();
                send();
                record(System.nanoTime() - start);
                untilTimed = random.nextInt(1, 2 * SENDS_PER_TIMED);
            }
        }
    }

    private void sendPaced() {
        double interval = 1e9 / pace.rate;
        long start = System.nanoTime() + (long) (pace.phase * interval);
        long awake = System.nanoTime();
        long now = awake;
        for (long i = 0; i < count; i++) {
            long due = start + (long) (i * interval);
            if (due - now > 0) {
                sleepUntil(Math.max(due, now + SLEEP_NANOS));
                awake = System.nanoTime();
                now = awake;
            }
            // Came due in the sleep: from now on. Came due in an earlier send: from when it was due.
            long from = due - awake > 0 ? due : now;
            send();
            now = System.nanoTime();
            record(now - from);
        }
    }

    private static void sleepUntil(long nanoTime) {
        for (long left = nanoTime - System.nanoTime(); left > 0; left = nanoTime - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private void send() {
        ProducerRecord<byte[], byte[]> record = records[next];
        next = next + 1 == records.length ? 0 : next + 1;
        Callback callback = acks.callback();
        if (--untilSampled == 0) {
            callback = acks.startSample();
            untilSampled = random.nextInt(1, 2 * AckMeter.SENDS_PER_SAMPLE);
        }
        producer.send(record, callback);
    }

    private void record(long nanos) {
        times.recordValue(Math.min(nanos, LONGEST_NANOS));
    }

    /** What each timed send took, in nanoseconds. */
    Histogram times() {
        return times;
    }

    /** By this thread while it sent. */
    long allocatedBytes() {
        return allocatedBytes;
    }

    /** Throws what ended the thread early, if anything did. */
    void rethrow() {
        if (failure != null) {
            throw failure;
        }
    }
}
