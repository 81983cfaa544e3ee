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
 * The sends of one thread. Without a rate, one send in {@value #SENDS_PER_TIMED} on average is timed, at random,
 * because reading the clock twice for each would cost as much as some of what is measured.
 *
 * <p>With a rate, each send has an intended start, and all sends are timed. A send that comes due while an earlier send
 * blocks its thread is timed from its intended start, so that a stall counts for all records that should have been sent
 * meanwhile (otherwise: coordinated omission). Between sends the thread sleeps for at least a millisecond, to leave the
 * cores to the producer. A send that comes due during that sleep is timed from when the thread makes it, because the
 * producer did not cause the sleep.
 *
 * <p><b>Threads:</b> the sending thread until it has ended; then the thread that joined it.
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
     * @param count how many records to send
     * @param timed whether to time some sends; if not, neither this class nor its callbacks read the clock
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
     * @param rate records per second of this thread, or {@link #UNLIMITED}
     * @param phase the fraction of an interval to start late, so that not all threads send at the same time
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
            // If it came due during the sleep, time it from now; if during an earlier send, from when it was due.
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

    /** The durations of the timed sends, in nanoseconds. */
    Histogram times() {
        return times;
    }

    /** What this thread allocated on the heap while it sent. */
    long allocatedBytes() {
        return allocatedBytes;
    }

    /** Throws the exception that ended the thread early, if there was one. */
    void rethrow() {
        if (failure != null) {
            throw failure;
        }
    }
}
