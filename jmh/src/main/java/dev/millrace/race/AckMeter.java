package dev.millrace.race;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.AtomicHistogram;
import org.HdrHistogram.Histogram;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * Measures how long acknowledgements take, from before the call of {@code send} to the callback, on a sample of sends.
 *
 * <p><b>Threads:</b> all sending threads, and the threads that run the callbacks.
 */
final class AckMeter {
    /** Without a rate, one send in so many is measured, on average. */
    private static final int MAX_SENDS_PER_SAMPLE = 1000;

    /** With a rate, so many sends are measured in a second, or all if there are fewer. */
    private static final int SAMPLES_PER_SECOND = 10_000;

    private static final long LONGEST_NANOS = TimeUnit.HOURS.toNanos(1);

    private final Histogram times = new AtomicHistogram(LONGEST_NANOS, 3);
    private final LongAdder acknowledged = new LongAdder();
    private final AtomicReference<Exception> failure = new AtomicReference<>();
    private final boolean always;
    private final int sendsPerSample;
    private final Callback callback;
    private final boolean isNewForEach;

    /**
     * @param always whether sends that are not measured have a callback too
     * @param isNewForEach whether each of these is an object of its own
     * @param rate records per second of all threads, or {@link Sender#UNLIMITED}
     */
    AckMeter(boolean always, boolean isNewForEach, double rate) {
        this.always = always;
        this.isNewForEach = isNewForEach;
        sendsPerSample = rate == Sender.UNLIMITED
                ? MAX_SENDS_PER_SAMPLE
                : (int) Math.max(1, Math.min(MAX_SENDS_PER_SAMPLE, rate / SAMPLES_PER_SECOND));
        callback = always ? this::onCompletion : null;
    }

    /** One send in so many is to be measured, on average. */
    int sendsPerSample() {
        return sendsPerSample;
    }

    /** The callback of a send that is not measured; may be null. */
    Callback callback() {
        return isNewForEach ? new SendCallback() : callback;
    }

    /** Starts to measure one send, and returns its callback. Call it right before {@code send}. */
    Callback startSample() {
        long start = System.nanoTime();
        return (metadata, exception) -> {
            times.recordValue(Math.min(System.nanoTime() - start, LONGEST_NANOS));
            onCompletion(metadata, exception);
        };
    }

    /** An inner class and no lambda, because the JVM may make one object of all lambdas that capture the same. */
    private final class SendCallback implements Callback {
        @Override
        public void onCompletion(RecordMetadata metadata, Exception exception) {
            AckMeter.this.onCompletion(metadata, exception);
        }
    }

    private void onCompletion(RecordMetadata metadata, Exception exception) {
        if (exception == null) {
            acknowledged.increment();
        } else {
            failure.compareAndSet(null, exception);
        }
    }

    /** Throws if a callback got an error or, if every send had a callback, one of them was not called. */
    void check(long records) throws Exception {
        if (failure.get() != null) {
            throw failure.get();
        }
        if (always && acknowledged.sum() != records) {
            throw new IllegalStateException(acknowledged + " of " + records + " callbacks reported success");
        }
    }

    long nanosAt(double percentile) {
        return times.getValueAtPercentile(percentile);
    }
}
