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

    /** The mirror was told to stop before all steps had succeeded. */
    static final class Stopped extends RuntimeException {
        private static final long serialVersionUID = 1;

        private Stopped(Throwable cause) {
            super(cause);
        }
    }

    /** Repeats a step that returns nothing, as {@link #repeat(Supplier)} does. */
    void repeat(Runnable step) {
        boolean unused = repeat(() -> {
            step.run();
            return true;
        });
    }

    /**
     * Returns what the step returns. Logs once why it waits.
     *
     * @throws Stopped if the mirror is to stop; a call to a cluster that is away is interrupted, because it would end
     *     only after {@code default.api.timeout.ms}, a minute by default
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
                throw new Stopped(problem);
            }
        }
    }

    private <T> T untilStopped(Supplier<T> step) {
        try (StopInterrupt interrupt = new StopInterrupt(lifecycle)) {
            try {
                return step.get();
            } catch (RuntimeException e) {
                if (!interrupt.hasInterrupted()) {
                    throw e;
                }
                if (!(e instanceof InterruptException)) {
                    LOG.warn("Told to stop during the start, just when a step of it failed", e);
                }
                throw new Stopped(e);
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
