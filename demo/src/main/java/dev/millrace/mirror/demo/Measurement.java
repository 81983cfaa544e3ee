package dev.millrace.mirror.demo;

import dev.millrace.mirror.status.MirrorObserver;
import dev.millrace.mirror.status.MirrorTotals;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import org.HdrHistogram.Histogram;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * Measures a mirror until the target has acknowledged the last record that the source had at the start. {@link
 * RunClock} decides when the measurement begins.
 *
 * <p>One {@code send} in {@value #SENDS_PER_SAMPLE} on average is timed, at random. To time each would cost two
 * readings of the clock per record, which MirrorMaker 1 does not pay.
 *
 * <p><b>Threads:</b> see {@link MirrorObserver}; {@link #figures} only after the mirror has ended.
 * <p><b>Ordering:</b> the thread that removes the last partition stops the {@link RunClock}. The clock and the
 * histograms are read after the mirror has joined its threads.
 */
final class Measurement implements MirrorObserver {
    private static final int SENDS_PER_SAMPLE = 16;
    private static final long LONGEST_SEND_NANOS = 3_600_000_000_000L;

    private final Map<TopicPartition, Long> ends;
    private final List<Histogram> sendTimes = new ArrayList<>();
    private final RunClock clock;
    private Runnable endAction;

    /**
     * @param ends the offset after the last record, of every partition that has records
     */
    Measurement(Map<TopicPartition, Long> ends) {
        this.ends = new ConcurrentHashMap<>(ends);
        this.clock =
                new RunClock(ends.values().stream().mapToLong(Long::longValue).sum(), DemoProcess::printStart);
    }

    /** Sets what a consumer thread does when all is acknowledged. To be called before the mirror runs. */
    void setEndAction(Runnable action) {
        endAction = action;
    }

    @Override
    public Sender createSender(Producer<byte[], byte[]> producer) {
        Histogram times = new Histogram(LONGEST_SEND_NANOS, 2);
        sendTimes.add(times);
        return new TimedSender(producer, times);
    }

    @Override
    public void onPolled(int records) {
        clock.onPolled(records);
    }

    @Override
    public void onAcknowledged(TopicPartition partition, long offset) {
        Long end = ends.get(partition);
        if (end != null && offset >= end && ends.remove(partition) != null && ends.isEmpty()) {
            clock.stop();
            DemoProcess.printEnd(clock.measuredRecords());
            endAction.run();
        }
    }

    @Override
    public void onProgress(MirrorTotals totals, double catchUpSeconds) {
        DemoProcess.print(totals.acked());
    }

    Figures figures() {
        Histogram all = new Histogram(LONGEST_SEND_NANOS, 2);
        sendTimes.forEach(all::add);
        return all.getTotalCount() == 0 // Modes that fetch by themselves call no send().
                ? Figures.untimed(clock)
                : new Figures(
                        clock.recordsPerSecond(), clock.cpuPerRecord(), all.getMean(), all.getValueAtPercentile(99));
    }

    /** The sender of one consumer thread. */
    private final class TimedSender implements Sender {
        private final Producer<byte[], byte[]> producer;
        private final Histogram times;
        private final SplittableRandom random = new SplittableRandom();
        private int untilTimed = 1;

        private TimedSender(Producer<byte[], byte[]> producer, Histogram times) {
            this.producer = producer;
            this.times = times;
        }

        @Override
        public void send(ProducerRecord<byte[], byte[]> record, Callback callback) {
            untilTimed--;
            if (untilTimed > 0) {
                Future<?> unused = producer.send(record, callback);
                return;
            }
            untilTimed = random.nextInt(1, 2 * SENDS_PER_SAMPLE);
            long before = System.nanoTime();
            Future<?> unused = producer.send(record, callback);
            long time = System.nanoTime() - before;
            if (clock.isRunning()) {
                times.recordValue(Math.min(time, LONGEST_SEND_NANOS));
            }
        }
    }

    /**
     * The figures of one run.
     *
     * @param sendMeanNanos of the timed calls of {@code send}; NaN when none was timed
     * @param sendP99Nanos of the timed calls of {@code send}; NaN when none was timed
     */
    record Figures(double recordsPerSecond, CpuPerRecord cpu, double sendMeanNanos, double sendP99Nanos) {
        /** Of a run whose calls of {@code send} are not timed. */
        static Figures untimed(RunClock clock) {
            return new Figures(clock.recordsPerSecond(), clock.cpuPerRecord(), Double.NaN, Double.NaN);
        }

        /** The same, with the CPU time of the brokers. */
        Figures with(BrokerCpu brokers) {
            return new Figures(recordsPerSecond, cpu.with(brokers), sendMeanNanos, sendP99Nanos);
        }
    }
}
