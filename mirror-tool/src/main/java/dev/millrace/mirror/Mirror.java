package dev.millrace.mirror;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.errors.InterruptException;

/**
 * Mirrors topics from one cluster to another, at least once: {@link MirrorThread}s feed one shared producer.
 *
 * <p>It runs until it is stopped or something fails. A failure of any part stops all of it, and is what {@link #run}
 * throws: a mirror that limps on with fewer threads would look alive.
 *
 * <p><b>Threads:</b> one thread calls {@link #run}, once; any may call the rest.
 * <p><b>Ordering:</b> the first failure is published by a compare-and-set before the latch opens, and read after.
 */
final class Mirror {
    private static final Duration PROGRESS_INTERVAL = Duration.ofSeconds(1);
    /** Longer than a thread takes to drain, so that it is the drain that gives up, saying of what. */
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(25);

    private static final Duration PRODUCER_CLOSE_TIMEOUT = Duration.ofSeconds(5);

    private final MirrorConfig config;
    private final MirrorObserver observer;
    private final CountDownLatch stopping = new CountDownLatch(1);
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final CountDownLatch settling;

    Mirror(MirrorConfig config, MirrorObserver observer) {
        this.config = config;
        this.observer = observer;
        this.settling = new CountDownLatch(config.threads());
    }

    /**
     * Mirrors until {@link #stop}; returns when all that was sent is acknowledged and committed, within about 30 s.
     *
     * @throws MirrorException when a cluster does not answer, nothing matches, or a record could not be written
     */
    void run() {
        try (Admin source = Clusters.connect("source", ClientConfigs.admin(config.consumer()));
                Admin target = Clusters.connect("target", ClientConfigs.admin(config.producer()))) {
            Clusters.checkDistinct(source, target);
            Set<String> topics = Clusters.matching(source, config.topics());
            observer.started(topics);
            mirror(new TargetTopics(source, target));
        }
        rethrow(failure());
    }

    private void mirror(TargetTopics targetTopics) {
        Producer<byte[], byte[]> producer = config.kind().create(config.producer());
        List<MirrorThread> mirrors = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        try {
            for (int i = 0; i < config.threads(); i++) {
                mirrors.add(new MirrorThread(
                        this,
                        new KafkaConsumer<>(ClientConfigs.numbered(config.consumer(), i)),
                        targetTopics::ensure,
                        observer,
                        observer.sender(producer)));
            }
            for (MirrorThread mirror : mirrors) {
                Thread thread = new Thread(mirror, "mirror-" + threads.size());
                threads.add(thread);
                thread.start();
            }
            while (!stopping.await(PROGRESS_INTERVAL.toMillis(), TimeUnit.MILLISECONDS)) {
                observer.progress(totals(mirrors));
            }
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        } finally {
            stop();
            boolean ended = join(threads, STOP_TIMEOUT);
            producer.close(PRODUCER_CLOSE_TIMEOUT); // Wakes whoever still waits in send.
            if (!ended && !join(threads, PRODUCER_CLOSE_TIMEOUT)) {
                fail(MirrorException.failed(
                        "Not all threads have stopped in time; their last records are not committed,"
                                + " and will be mirrored again"));
            }
            observer.finished(totals(mirrors));
        }
    }

    /** Asks the mirror to drain and end. Does not wait for it. */
    void stop() {
        stopping.countDown();
    }

    /** Stops the mirror because of this; what fails later as a consequence is left out. */
    void fail(Throwable cause) {
        failure.compareAndSet(null, cause);
        stop();
    }

    /** What stopped the mirror, or null. */
    Throwable failure() {
        return failure.get();
    }

    /** Called by each thread once it has committed all it could. */
    void settled() {
        settling.countDown();
    }

    /** Whether all threads have {@link #settled}. */
    boolean haveAllSettled() {
        return settling.getCount() == 0;
    }

    boolean isRunning() {
        return stopping.getCount() > 0;
    }

    Pattern topics() {
        return Clusters.withoutInternal(config.topics());
    }

    private static ThreadCounters.Totals totals(List<MirrorThread> mirrors) {
        return mirrors.stream()
                .map(MirrorThread::totals)
                .reduce(ThreadCounters.Totals.NONE, ThreadCounters.Totals::plus);
    }

    /** Returns whether all threads have ended in time. */
    private static boolean join(List<Thread> threads, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        try {
            for (Thread thread : threads) {
                thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())));
            }
            return threads.stream().noneMatch(Thread::isAlive);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    private static void rethrow(Throwable failure) {
        if (failure != null) {
            throw MirrorException.stopped(failure);
        }
    }
}
