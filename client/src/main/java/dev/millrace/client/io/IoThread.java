package dev.millrace.client.io;

import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that owns the connections. Each round it looks at what was handed over, sends what can be sent, and waits
 * in the selector for the next event, deadline or wake-up.
 *
 * <p><b>Threads:</b> {@code run} is the thread; {@code shutdown}, {@code forceShutdown} and {@code failure} may be
 * called by any.
 * <p><b>Ordering:</b> {@code stopping} and {@code forced} are volatile and set before the selector is woken. The
 * accumulator is closed before {@code stopping} is set, so that a round which sees it sees every record there will be.
 */
public final class IoThread implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(IoThread.class);
    private static final long WRITER_WAIT_NS = 50_000;

    private final IoContext context;
    private final ProducerIds ids;
    private final MetadataRefresh metadata;
    private final Drainer drainer;
    private volatile boolean stopping;
    private volatile boolean forced;
    private volatile Throwable failure;

    /** Shares {@code metadata} with the threads that wait for topics. */
    public IoThread(IoContext context, SenderSettings settings, MetadataRefresh metadata) {
        this.context = context;
        this.metadata = metadata;
        this.ids = new ProducerIds(context.link(), settings);
        this.drainer = new Drainer(context, settings, ids, metadata);
        context.ready().onWake(context.link()::wakeup);
    }

    @Override
    public void run() {
        try {
            while (!forced && !(stopping && drainer.isIdle())) {
                runOnce();
            }
        } catch (Throwable t) { // whatever it is: no record may be left without an outcome
            failure = t;
            log.error("The I/O thread failed; all records without an outcome fail with it", t);
        }
        end();
    }

    void runOnce() {
        long nowMs = context.clock().nowMs();
        drainer.collect(nowMs);
        failOnRefusedId(nowMs);
        long waitMs = metadata.askIfNeeded(nowMs);
        waitMs = Math.min(waitMs, ids.askIfNeeded(nowMs));
        waitMs = Math.min(waitMs, drainer.drain(nowMs));
        if (waitMs > 0 && context.ready().trySleep(Deadlines.plus(nowMs, waitMs))) {
            context.link().poll(waitMs, nowMs);
            context.ready().awake();
        } else {
            context.link().poll(0, nowMs);
        }
    }

    private void failOnRefusedId(long nowMs) {
        KafkaException refusal = ids.takeRefusal();
        if (refusal != null) {
            log.error("The cluster gives no producer id; all records buffered so far fail", refusal);
            drainer.failAll(nowMs + 1, refusal);
        }
    }

    private void end() {
        context.accumulator().close();
        context.images().close();
        try {
            context.link().close();
        } catch (RuntimeException e) {
            log.warn("Closing the connections failed", e);
        }
        RuntimeException reason = failure == null
                ? new KafkaException("Producer is closed forcefully.")
                : new KafkaException("The producer's I/O thread failed", failure);
        drainer.abandonInFlight();
        drainer.failAll(Long.MAX_VALUE, reason);
        while (!drainer.isIdle()) { // writers between claim and commit: they are about to finish
            LockSupport.parkNanos(WRITER_WAIT_NS);
            drainer.failAll(Long.MAX_VALUE, reason);
        }
    }

    /** Sends what is buffered, then ends. Close the accumulator before. */
    public void shutdown() {
        stopping = true;
        context.ready().wake();
    }

    /** Fails what has no outcome yet, then ends. */
    public void forceShutdown() {
        forced = true;
        context.ready().wake();
    }

    /** What ended the thread although nobody asked for it, or null. */
    public Throwable failure() {
        return failure;
    }
}
