package dev.millrace.mirror;

import dev.millrace.mirror.control.Lifecycle;
import dev.millrace.mirror.control.TopicControls;

/**
 * What everything that copies in this process shares.
 *
 * <p><b>Threads:</b> any.
 *
 * @param commits the form of what is committed
 * @param pausedEnds where the source's paused partitions end
 * @param copiedOffsets is told where records are at the target
 */
record RunningMirror(
        MirrorConfig config,
        Lifecycle lifecycle,
        CommitForm commits,
        MirrorObserver observer,
        TopicControls controls,
        PausedEnds pausedEnds,
        CopiedOffsets copiedOffsets) {
    boolean isRunning() {
        return lifecycle.isRunning();
    }

    void fail(Throwable cause) {
        lifecycle.fail(cause);
    }

    void attempt(Runnable step) {
        lifecycle.attempt(step);
    }

    TopicNames names() {
        return config.names();
    }
}
