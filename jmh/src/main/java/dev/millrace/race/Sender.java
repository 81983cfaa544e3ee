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

    /** Without a rate the clock is looked at only once in so many sends: a power of two. */
    private static final int SENDS_PER_LOOK_AT_CLOCK = 256;

    private static final int SENDS_PER_TIMED = 16;
    private static final long SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long LONGEST_NANOS = TimeUnit.HOURS.toNanos(1);
    private static final ThreadMXBean THREADS = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

    private final Producer<byte[], byte[]> producer;
    private final ProducerRecord<byte[], byte[]>[] records;
    private final Limit limit;
    private final Pace pace;
    private final AckMeter acks;
    private final Histogram times = histogram();
    private final SplittableRandom random = new SplittableRandom();
    private long sent;
    private int next;
    private int untilTimed;
    private int untilSampled;
    private long allocatedBytes;
    private RuntimeException failure;

    /**
     * @param limit when to end
     * @param timed whether to time some sends; if not, neither this class nor its callbacks read the clock
     */
    Sender(
            Producer<byte[], byte[]> producer,
            List<ProducerRecord<byte[], byte[]>> records,
            Limit limit,
            Pace pace,
            AckMeter acks,
            boolean timed) {
        this.producer = producer;
        this.records = array(records);
        this.limit = limit;
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

    /** When to end: after so many records, or so many nanoseconds after the start, whichever comes first. */
    record Limit(long records, long nanos) {
        /** The clock is not read for a limit without time. */
        private static final long FOREVER = Long.MAX_VALUE;

        static Limit ofRecords(long records) {
            return new Limit(records, FOREVER);
        }

        static Limit ofNanos(long nanos) {
            return new Limit(Long.MAX_VALUE, nanos);
        }

        /** The share of one of several threads. */
        Limit share(int thread, int threads) {
            return records == Long.MAX_VALUE
                    ? this
                    : new Limit(records / threads + (thread < records % threads ? 1 : 0), nanos);
        }

        boolean isOver(long start) {
            return nanos != FOREVER && isOver(start, System.nanoTime());
        }

        boolean isOver(long start, long now) {
            return now - start >= nanos;
        }
    }

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
        long begun = limit.nanos == Limit.FOREVER ? 0 : System.nanoTime();
        while (sent < limit.records) {
            if ((sent & (SENDS_PER_LOOK_AT_CLOCK - 1)) == 0 && limit.isOver(begun)) {
                return;
            }
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
        while (sent < limit.records && !limit.isOver(start, now)) {
            long due = start + (long) (sent * interval);
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
            untilSampled = random.nextInt(1, 2 * acks.sendsPerSample());
        }
        producer.send(record, callback);
        sent++;
    }

    private void record(long nanos) {
        times.recordValue(Math.min(nanos, LONGEST_NANOS));
    }

    /** How many records this thread has sent. */
    long sent() {
        return sent;
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
