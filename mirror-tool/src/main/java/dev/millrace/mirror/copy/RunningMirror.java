package dev.millrace.mirror.copy;

import dev.millrace.mirror.cluster.PausedEnds;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.control.Lifecycle;
import dev.millrace.mirror.control.TopicControls;
import dev.millrace.mirror.progress.CommitForm;
import dev.millrace.mirror.progress.CopiedOffsets;
import dev.millrace.mirror.status.MirrorObserver;

/**
 * What everything that copies in this process shares.
 *
 * <p><b>Threads:</b> any.
 *
 * @param commits the form of what is committed
 * @param pausedEnds where the source's paused partitions end
 * @param copiedOffsets is told where records are at the target
 */
public record RunningMirror(
        MirrorConfig config,
        Lifecycle lifecycle,
        CommitForm commits,
        MirrorObserver observer,
        TopicControls controls,
        PausedEnds pausedEnds,
        CopiedOffsets copiedOffsets) {
    /** Returns the same for another member. */
    public RunningMirror forAnotherMember() {
        return new RunningMirror(
                config, lifecycle, commits, observer, controls, pausedEnds, copiedOffsets.ofAnotherMember());
    }

    public boolean isRunning() {
        return lifecycle.isRunning();
    }

    public void fail(Throwable cause) {
        lifecycle.fail(cause);
    }

    public void attempt(Runnable step) {
        lifecycle.attempt(step);
    }

    public TopicNames names() {
        return config.names();
    }
}
