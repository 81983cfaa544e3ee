package dev.millrace.mirror.cutover;

import dev.millrace.mirror.text.MirrorException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** How long a step waits, and how often it looks again. */
final class Patience {
    static final String NO_GROUP_MOVED = "No group was moved, and the mirror goes on";

    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final long begunNanos = System.nanoTime();
    private final Duration giveUpAfter;
    private final String otherwise;
    private long lookedNanos = begunNanos - LOOK_NANOS;

    /** @param otherwise what is so if it has waited for too long, for a message */
    Patience(Duration giveUpAfter, String otherwise) {
        this.otherwise = otherwise;
        this.giveUpAfter = giveUpAfter;
    }

    static void pause() {
        LockSupport.parkNanos(PAUSE_NANOS);
    }

    /** Whether what costs more than a step's own question is due: at first, and then every 10 s. */
    boolean isTimeToLook() {
        if (System.nanoTime() - lookedNanos < LOOK_NANOS) {
            return false;
        }
        lookedNanos = System.nanoTime();
        return true;
    }

    boolean isOver() {
        return System.nanoTime() - begunNanos > giveUpAfter.toNanos();
    }

    /**
     * Waits for a second.
     *
     * @param state what is waited for, for a message
     * @throws MirrorException if the step has waited for too long
     */
    void pauseUnlessOver(String state) {
        if (isOver()) {
            throw MirrorException.failed(
                    "After " + giveUpAfter.toSeconds() + " s (--give-up-after) " + state + ". " + otherwise);
        }
        pause();
    }
}
