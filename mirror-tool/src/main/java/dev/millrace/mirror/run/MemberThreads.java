package dev.millrace.mirror.run;

import dev.millrace.mirror.cluster.ClusterProbe;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.control.Lifecycle;
import dev.millrace.mirror.member.Member;
import dev.millrace.mirror.member.MirrorMembers;
import dev.millrace.mirror.status.MirrorObserver;
import dev.millrace.mirror.text.MirrorException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.errors.InterruptException;

/**
 * Creates a mirror's members in this process, runs each in a thread of its own until the mirror stops, and waits until
 * they have ended.
 *
 * <p><b>Threads:</b> the thread that runs the mirror.
 */
final class MemberThreads {
    private static final Duration PROGRESS_INTERVAL = Duration.ofSeconds(1);
    /**
     * Exceeds the time that a thread waits for its records, so that the thread gives up first and names their
     * partitions.
     */
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(25);

    private static final Duration PRODUCER_CLOSE_TIMEOUT = Duration.ofSeconds(5);

    private final int count;
    private final MirrorConfig config;
    private final Lifecycle lifecycle;
    private final MirrorObserver observer;
    private final Monitor monitor;

    MemberThreads(int count, MirrorConfig config, Lifecycle lifecycle, MirrorObserver observer, Monitor monitor) {
        this.count = count;
        this.config = config;
        this.lifecycle = lifecycle;
        this.observer = observer;
        this.monitor = monitor;
    }

    /**
     * Returns once the mirror is told to stop, the threads have ended or take too long, and the producer is closed.
     *
     * @param group creates the members, and has their producer
     * @param name of the group
     */
    void run(MirrorMembers group, String name, MirrorMembers.Shared shared) {
        List<Member> created = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                created.add(group.create(i));
            }
            monitor.onCopying(parts(List.copyOf(created), group, name, shared));
            for (Member member : created) {
                Thread thread = new Thread(member, "mirror-" + threads.size());
                threads.add(thread);
                thread.start();
            }
            while (!lifecycle.awaitStop(PROGRESS_INTERVAL.toMillis(), TimeUnit.MILLISECONDS)) {
                observer.onProgress(monitor.totals(), monitor.catchUpSeconds());
            }
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        } finally {
            lifecycle.stop();
            boolean ended = join(threads, STOP_TIMEOUT);
            monitor.tellBytes();
            group.closeProducer(PRODUCER_CLOSE_TIMEOUT); // wakes threads that still wait in send
            if (!ended && !join(threads, PRODUCER_CLOSE_TIMEOUT)) {
                lifecycle.fail(MirrorException.failed(
                        "Some threads have not stopped in time; their last records are not committed"
                                + " and will be mirrored again"));
            }
            observer.onFinished(Monitor.totals(created));
        }
    }

    private Monitor.Parts parts(List<Member> members, MirrorMembers group, String name, MirrorMembers.Shared shared) {
        long now = System.nanoTime();
        int maxPollMs = new ConsumerConfig(config.consumer()).getInt(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG);
        return new Monitor.Parts(
                members,
                name,
                group,
                shared.watch(),
                shared.changes().identities(),
                new ClusterProbe("source", shared.source(), now),
                new ClusterProbe("target", shared.copies().target(), now),
                TimeUnit.MILLISECONDS.toNanos(maxPollMs));
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
}
