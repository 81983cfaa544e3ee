package dev.millrace.mirror.cluster;

import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterOptions;

/**
 * Asks a cluster every few seconds for its id, to show whether the cluster answers and whether the client that asks
 * still works.
 *
 * <p><b>Threads:</b> one thread asks; any thread may read. The client's own thread notes the answers.
 */
public final class ClusterProbe {
    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final int ANSWER_TIMEOUT_MS = 4_000;
    /** The time in which two questions remain unanswered. */
    private static final long SILENT_NANOS = 3 * INTERVAL_NANOS;

    private final String role;
    private final Admin cluster;
    private long askedNanos;
    private volatile long answeredNanos;
    private volatile String cause = "";
    /** The client's own thread, which delivers answers; null before the first. */
    private volatile Thread clientThread;

    /**
     * Starts with a cluster that has just answered.
     *
     * @param role "source" or "target"
     */
    public ClusterProbe(String role, Admin cluster, long nowNanos) {
        this.role = role;
        this.cluster = cluster;
        this.askedNanos = nowNanos;
        this.answeredNanos = nowNanos;
    }

    /** Asks if it is time. Does not block. */
    public void askIfDue(long nowNanos) {
        if (nowNanos - askedNanos < INTERVAL_NANOS) {
            return;
        }
        askedNanos = nowNanos;
        Thread asking = Thread.currentThread();
        cluster.describeCluster(new DescribeClusterOptions().timeoutMs(ANSWER_TIMEOUT_MS))
                .clusterId()
                .whenComplete((id, failure) -> {
                    if (Thread.currentThread() != asking) { // otherwise the answer had already arrived
                        clientThread = Thread.currentThread();
                    }
                    if (failure == null) {
                        answeredNanos = System.nanoTime();
                    } else {
                        cause = MirrorException.reason(failure);
                    }
                });
    }

    /** Says that the client's thread has died, for example of a JVM error, so no question is answered; else empty. */
    public String failure() {
        Thread known = clientThread;
        return known == null || known.isAlive()
                ? ""
                : "The thread of the admin client of the " + role + " cluster has died, as after an OutOfMemoryError";
    }

    /** Says that the cluster does not answer; empty if it does. */
    public String problem(long nowNanos) {
        long silent = nowNanos - answeredNanos;
        return silent < SILENT_NANOS
                ? ""
                : "The " + role + " cluster has not answered for "
                        + Words.count(TimeUnit.NANOSECONDS.toSeconds(silent), "second") + ": " + cause;
    }
}
