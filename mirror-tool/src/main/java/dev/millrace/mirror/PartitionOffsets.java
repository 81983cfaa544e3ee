package dev.millrace.mirror;

import dev.millrace.mirror.offsets.OffsetRuns;
import dev.millrace.mirror.pass.AckedRuns;
import org.apache.kafka.common.Uuid;

/**
 * Where the records of a partition are that this process copies. Only what is before the position that the group has
 * committed is shown: a member that was away, and no longer owns the partition, cannot commit, so what it has written
 * after the next owner's records does not count. For the same reason nothing of an aborted transaction does.
 *
 * <p><b>Threads:</b> any. The lock is held for a few microseconds, also while all is copied for {@link #committedRuns}.
 */
final class PartitionOffsets {
    private final Uuid topicId;
    private final long sinceNanos;

    // Guarded by this.
    private OffsetRuns runs = new OffsetRuns();
    private AckedRuns session = AckedRuns.IGNORED;
    private long committed = -1;
    /** Until it is loaded: the first position at which something was copied. */
    private long begunAt = Long.MAX_VALUE;

    private boolean isLoaded;
    private boolean hasChanged;

    PartitionOffsets(Uuid topicId, long nowNanos) {
        this.topicId = topicId;
        this.sinceNanos = nowNanos;
    }

    Uuid topicId() {
        return topicId;
    }

    /** When this process began to copy the partition. */
    long sinceNanos() {
        return sinceNanos;
    }

    // ---- members ----

    /** Copying begins at this position, or begins there again; what a former copy is told yet does not count. */
    synchronized AckedRuns begin(long position) {
        runs.begin(position);
        begunAt = Math.min(begunAt, position);
        committed = position;
        AckedRuns begun = new AckedRuns() {
            @Override
            public void onAcknowledged(long source, long target, int count) {
                append(this, source, target, count);
            }
        };
        session = begun;
        return begun;
    }

    @SuppressWarnings("ReferenceEquality") // each is another one
    private synchronized void append(AckedRuns from, long source, long target, int count) {
        if (from != session) {
            return;
        }
        committed = Math.min(committed, source); // else the log was truncated, or the position moved back
        if (target < 0) {
            runs.appendUnknown(source, count);
        } else {
            runs.append(source, target, count);
        }
    }

    synchronized void onCommitted(long position) {
        if (position != committed) {
            committed = position;
            if (session != AckedRuns.IGNORED) {
                runs.moveEnd(position);
            }
            hasChanged = true;
        }
    }

    /** Nothing is noted until it begins again. */
    synchronized void end() {
        session = AckedRuns.IGNORED;
    }

    // ---- who keeps and uses it ----

    synchronized boolean isLoaded() {
        return isLoaded;
    }

    /** Takes what former owners knew, which is empty if they knew nothing; it is changed. */
    synchronized void load(OffsetRuns stored) {
        stored.begin(begunAt);
        stored.appendAll(runs);
        runs = stored;
        isLoaded = true;
    }

    /** What may be shown. */
    OffsetRuns committedRuns() {
        OffsetRuns copy;
        long until;
        synchronized (this) {
            copy = runs.copy();
            until = committed;
        }
        copy.cut(until);
        return copy;
    }

    synchronized int size() {
        return runs.size();
    }

    /** Whether there is something to keep. */
    synchronized boolean hasChanged() {
        return isLoaded && hasChanged;
    }

    /** As the other; from now on, only what is new counts. */
    synchronized boolean takeChanged() {
        boolean changed = hasChanged();
        hasChanged &= !changed;
        return changed;
    }

    /** What was taken is not kept. */
    synchronized void onNotKept() {
        hasChanged = true;
    }

    /** The committed position, if it is not known which target offset belongs to it; else -1. */
    synchronized long positionWithoutAnchor() {
        return isLoaded && runs.end() <= committed && !runs.isEndKnown() ? committed : -1;
    }

    /** All records before this source position are before this target offset, and none from there on is copied yet. */
    synchronized void anchor(long source, long target) {
        if (source == committed && runs.end() <= source) {
            runs.anchor(source, target);
            hasChanged = true;
        }
    }

    /** The source no longer has what is before this offset. */
    synchronized void dropBefore(long source) {
        runs.dropBefore(source);
    }
}
