package dev.millrace.client.io;

import dev.millrace.client.accumulator.FailureLog;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread with its own connections and its share of the partitions. Each round it visits the partitions that were
 * handed over, sends what can be sent, and waits in the selector for the next event, deadline or wake-up.
 *
 * <p><b>Threads:</b> this one, except {@link #wake} and {@link #disconnectSoon}, which any thread may call.
 */
final class IoThread {
    private static final Logger log = LoggerFactory.getLogger(IoThread.class);
    private static final long WRITER_WAIT_NS = 50_000;

    /** Ten seconds in total: if memory is used up, it may become free. */
    private static final int MAX_ATTEMPTS = 1_000;

    private static final long RETRY_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LONGEST_WRITE_NS = TimeUnit.SECONDS.toNanos(10);

    private final IoContext context;
    private final List<IoTask> tasks;
    private final TransactionShare transactions;
    private final Drainer drainer;

    private volatile boolean mustDisconnect;

    /** Creates the thread, which also runs {@code tasks}. */
    IoThread(
            IoContext context,
            SenderSettings settings,
            ProducerIds ids,
            MetadataRefresh metadata,
            TransactionShare transactions,
            IoTask... tasks) {
        this.transactions = transactions;
        this.context = context;
        this.tasks = new ArrayList<>(List.of(tasks));
        this.drainer = new Drainer(context, settings, ids, metadata, transactions);
        context.link().onDisconnect((refusal, node) -> metadata.onDisconnect(refusal));
        context.ready().onWake(context.link()::wakeup);
    }

    /** Adds a task. Call it only before the thread is started. */
    void add(IoTask task) {
        tasks.add(task);
    }

    void runOnce() {
        long nowMs = context.clock().nowMs();
        if (mustDisconnect) {
            mustDisconnect = false;
            context.link().disconnectAll();
        }
        drainer.visitChanged(nowMs);
        transactions.enforcePhase(drainer);
        long waitMs = Long.MAX_VALUE;
        for (IoTask task : tasks) {
            waitMs = Math.min(waitMs, task.runIfDue(nowMs));
        }
        waitMs = Math.min(waitMs, drainer.drain(nowMs));
        long untilMs = Deadlines.plus(nowMs, waitMs);
        if (waitMs > 0 && context.ready().trySleep(untilMs)) {
            long laterMs = context.clock().nowMs(); // callbacks may have taken long
            context.link().poll(Math.max(0, untilMs - laterMs), laterMs);
            context.ready().markAwake();
        } else {
            context.link().poll(0, nowMs);
        }
    }

    /**
     * Whether every record of its partitions has an outcome, no transaction needs the thread, and the link may be
     * closed.
     */
    boolean isIdle() {
        return drainer.isIdle()
                && transactions.isReadyToEnd()
                && context.link().isQuiet(context.clock().nowMs());
    }

    void wake() {
        context.ready().wake();
    }

    /** Closes the thread's connections in its next round. */
    void disconnectSoon() {
        mustDisconnect = true;
        wake();
    }

    /** Closes the connections and fails every record without an outcome. The accumulator is closed already. */
    void end(RuntimeException reason) {
        runQuietly(context.link()::close);
        tasks.forEach(task -> runWithRetries(() -> task.onEnd(reason)));
        runWithRetries(() -> failRest(reason));
    }

    private void failRest(RuntimeException reason) {
        drainer.abandonInFlight();
        drainer.failAll(Long.MAX_VALUE, reason);
        long startNs = System.nanoTime();
        while (!drainer.isIdle()) { // some writer is between claim and commit and about to finish
            if (System.nanoTime() - startNs > LONGEST_WRITE_NS) { // or the writer's thread has died there
                log.error("A thread has begun to write a record, and has not finished: the records of its batch fail");
                drainer.failAlsoUnfinished(new KafkaException(
                        "A thread began to write a record of the batch, and had not finished when the producer ended",
                        reason));
                return;
            }
            LockSupport.parkNanos(WRITER_WAIT_NS);
            drainer.failAll(Long.MAX_VALUE, reason);
        }
    }

    /** Runs one step of the end. Its exceptions are logged and do not prevent the next steps. */
    static void runQuietly(Runnable step) {
        attempt(step);
    }

    /**
     * Runs a step of the end that records need for their outcome. Repeats it while it throws, because memory may become
     * free. After ten seconds the thread ends without it, because another thread may wait in {@code close} for that
     * end.
     */
    static void runWithRetries(Runnable step) {
        for (int i = 0; i < MAX_ATTEMPTS && !attempt(step); i++) {
            LockSupport.parkNanos(RETRY_WAIT_NS);
        }
    }

    private static boolean attempt(Runnable step) {
        try {
            step.run();
            return true;
        } catch (Throwable t) {
            FailureLog.error(
                    log,
                    "{} could not complete a step of its shutdown",
                    Thread.currentThread().getName(),
                    t);
            return false;
        }
    }
}
