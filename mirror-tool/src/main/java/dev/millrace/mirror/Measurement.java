package dev.millrace.mirror;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import org.HdrHistogram.Histogram;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;

/**
 * Measures a mirror until the target has acknowledged the last record that the source had at the start; {@link RunClock}
 * tells from when.
 *
 * <p>Each {@code send} is timed by two readings of the clock and a histogram of the thread's own; that costs about 0.1 µs
 * a record, the same for every producer.
 *
 * <p><b>Threads:</b> see {@link MirrorObserver}; {@link #figures} only when the mirror has ended.
 * <p><b>Ordering:</b> whoever removes the last partition stops the {@link RunClock}; it is read after the mirror has
 * joined its threads, the histograms too.
 */
final class Measurement implements MirrorObserver {
    private static final long LONGEST_SEND_NANOS = 3_600_000_000_000L;

    private final Map<TopicPartition, Long> ends;
    private final List<Histogram> sendTimes = new ArrayList<>();
    private final RunClock clock;
    private Runnable onEnd;

    /**
     * @param ends the offset after the last record, of every partition that has records
     */
    Measurement(Map<TopicPartition, Long> ends) {
        this.ends = new ConcurrentHashMap<>(ends);
        this.clock =
                new RunClock(ends.values().stream().mapToLong(Long::longValue).sum());
    }

    /** Sets what to do when all is acknowledged, in a consumer thread; to be called before the mirror runs. */
    void onEnd(Runnable action) {
        onEnd = action;
    }

    @Override
    public Sender sender(Producer<byte[], byte[]> producer) {
        Histogram times = new Histogram(LONGEST_SEND_NANOS, 2);
        sendTimes.add(times);
        return (record, callback) -> {
            long before = System.nanoTime();
            Future<?> unused = producer.send(record, callback);
            long time = System.nanoTime() - before;
            if (clock.isRunning()) {
                times.recordValue(Math.min(time, LONGEST_SEND_NANOS));
            }
        };
    }

    @Override
    public void polled(int records) {
        clock.polled(records);
    }

    @Override
    public void acknowledged(TopicPartition partition, long offset) {
        Long end = ends.get(partition);
        if (end != null && offset >= end && ends.remove(partition) != null && ends.isEmpty()) {
            clock.stop();
            onEnd.run();
        }
    }

    @Override
    public void progress(ThreadCounters.Totals totals) {
        DemoProcess.print(totals.acked());
    }

    Figures figures() {
        Histogram all = new Histogram(LONGEST_SEND_NANOS, 2);
        sendTimes.forEach(all::add);
        return new Figures(
                clock.recordsPerSecond(), clock.cpuNanosPerRecord(), all.getMean(), all.getValueAtPercentile(99));
    }

    /**
     * What was measured.
     *
     * @param cpuNanosPerRecord of the whole process
     * @param sendMeanNanos of a call of {@code send}, as the next; NaN when that was not timed
     */
    record Figures(double recordsPerSecond, double cpuNanosPerRecord, double sendMeanNanos, double sendP99Nanos) {}
}
