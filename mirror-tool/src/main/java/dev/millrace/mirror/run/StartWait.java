package dev.millrace.mirror.run;

import dev.millrace.mirror.config.MirrorPolicies;
import dev.millrace.mirror.control.Lifecycle;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats each step of a mirror's start until it succeeds: a cluster answers, a topic matches. One time limit holds for
 * all steps together.
 *
 * <p><b>Threads:</b> one.
 */
final class StartWait {
    private static final Logger LOG = LoggerFactory.getLogger(StartWait.class);
    private static final long PAUSE_MS = 1_000;

    private final Duration limit;
    private final Lifecycle lifecycle;
    private final LongSupplier nanoTime;
    private final Consumer<String> onWaiting;
    private final long startNanos;

    /**
     * @param limit zero to try each step once
     * @param onWaiting called at each attempt with the reason for waiting
     */
    StartWait(Duration limit, Lifecycle lifecycle, LongSupplier nanoTime, Consumer<String> onWaiting) {
        this.limit = limit;
        this.lifecycle = lifecycle;
        this.nanoTime = nanoTime;
        this.onWaiting = onWaiting;
        this.startNanos = nanoTime.getAsLong();
    }

    /**
     * Returns what the step returns. Logs once why it waits.
     *
     * @return null if the mirror is to stop
     * @throws MirrorException what the step threw last: its time is up, or waiting does not help
     */
    <T> T repeat(Supplier<T> step) {
        boolean isTold = false;
        while (true) {
            MirrorException problem;
            try {
                return untilStopped(step);
            } catch (RetriableException e) {
                problem = MirrorException.failed("A cluster does not answer", e);
            } catch (MirrorException e) {
                problem = e;
            }
            if (!problem.isTemporary() || nanoTime.getAsLong() - startNanos >= limit.toNanos()) {
                throw problem;
            }
            onWaiting.accept(problem.getMessage());
            if (!isTold) {
                LOG.warn("The mirror waits {}: {}", limit(), problem.getMessage());
                isTold = true;
            }
            if (isStopping()) {
                return null;
            }
        }
    }

    /** A call to a cluster that is away would end only after {@code default.api.timeout.ms}, a minute by default. */
    private <T> T untilStopped(Supplier<T> step) {
        try (StopInterrupt interrupt = new StopInterrupt(lifecycle)) {
            try {
                return step.get();
            } catch (KafkaException | MirrorException e) {
                if (interrupt.hasInterrupted()) {
                    return null;
                }
                throw e;
            }
        }
    }

    private String limit() {
        return limit.equals(MirrorPolicies.FOREVER)
                ? "for as long as it takes"
                : "until " + Words.count(limit.toSeconds(), "second") + " after its start (--wait-at-start)";
    }

    private boolean isStopping() {
        try {
            return lifecycle.awaitStop(PAUSE_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }
}
