package dev.millrace.mirror.groups;

import dev.millrace.mirror.offsets.OffsetRuns;
import dev.millrace.mirror.offsets.UncommittedRuns;
import dev.millrace.mirror.pass.AckedRuns;
import dev.millrace.mirror.progress.CopiedOffsets;
import dev.millrace.mirror.progress.TopicIdentities;
import org.apache.kafka.common.Uuid;

/**
 * Where the target has the records of a partition that this process copies. Only records before the position that the
 * group has committed count: a member that was away, and no longer owns the partition, cannot commit, so what it has written
 * after the next owner's records is never shown. For the same reason nothing of an aborted transaction is shown.
 *
 * <p><b>Threads:</b> any. The lock is held for a few microseconds, even while all is copied for {@link #committedRuns}.
 */
final class PartitionOffsets {
    private final Uuid topicId;
    private final long sinceNanos;

    // Guarded by this.
    /** What former owners knew; empty once it is part of {@link #runs}. */
    private OffsetRuns former = new OffsetRuns();
    /** Holds records before {@link #committed}. */
    private OffsetRuns runs = new OffsetRuns();
    /** Holds records from {@link #committed} on. */
    private final UncommittedRuns uncommitted = new UncommittedRuns();

    private AckedRuns session = AckedRuns.IGNORED;
    /** The member that began last. */
    private CopiedOffsets member = CopiedOffsets.NONE;

    private long committed = -1;
    /** The lowest position at which copying began. */
    private long begunAt = Long.MAX_VALUE;
    /** The position at which copying began last. */
    private long begunAgainAt;

    private Uuid targetId = Uuid.ZERO_UUID;
    private boolean isLoaded;
    private long loadedNanos;
    private boolean isComplete;
    private boolean hasChanged;

    PartitionOffsets(Uuid topicId, long nowNanos) {
        this.topicId = topicId;
        this.sinceNanos = nowNanos;
    }

    Uuid topicId() {
        return topicId;
    }

    /** Returns when this process began to copy the partition. */
    long sinceNanos() {
        return sinceNanos;
    }

    // ---- members ----

    /** Begins, or begins again, at this position; what a former copy still reports does not count. */
    synchronized AckedRuns begin(CopiedOffsets by, long position) {
        member = by;
        runs.begin(position);
        uncommitted.clear();
        committed = position;
        begunAt = Math.min(begunAt, position);
        begunAgainAt = position;
        AckedRuns begun = new AckedRuns() {
            @Override
            public void onAcknowledged(long source, long target, int count) {
                append(this, source, target, count);
            }
        };
        session = begun;
        return begun;
    }

    @SuppressWarnings("ReferenceEquality") // each session is a different object
    private synchronized void append(AckedRuns from, long source, long target, int count) {
        if (from != session) {
            return;
        }
        if (source < committed) {
            goBack(source);
        }
        uncommitted.add(source, target, count);
    }

    /** Ignores positions before one that is known to be committed: they were sent earlier. */
    synchronized void onCommitted(long position) {
        if (position > committed) {
            uncommitted.moveBefore(position, runs);
            if (session != AckedRuns.IGNORED) {
                runs.moveEnd(position);
            }
            committed = position;
            hasChanged = true;
        }
    }

    /**
     * Goes back because the log was truncated or somebody moved the position: what is from there on is copied again.
     */
    private void goBack(long position) {
        if (position < runs.end()) {
            runs.begin(position);
        }
        begunAt = Math.min(begunAt, position);
        committed = position;
        hasChanged = true;
    }

    /** Stops taking notes until copying begins again, unless another member has begun; returns whether none has. */
    @SuppressWarnings("ReferenceEquality") // each member is a different object
    synchronized boolean end(CopiedOffsets by) {
        if (by != member) {
            return false;
        }
        session = AckedRuns.IGNORED;
        return true;
    }

    // ---- keeping and reading ----

    /** Returns whether it has taken what former owners knew. */
    synchronized boolean isLoaded() {
        return isLoaded;
    }

    /** Returns whether its first load was before this time. */
    synchronized boolean wasLoadedBefore(long nanos) {
        return isLoaded && loadedNanos - nanos < 0;
    }

    /** Returns whether it needs nothing more from former owners. */
    synchronized boolean isComplete() {
        return isComplete;
    }

    /**
     * Takes what former owners knew, which is empty if they knew nothing. As long as that ends before the position at
     * which copying began, this may be called again: the former owner may not have been able to write its last yet.
     *
     * @param target id of the target's topic; zero if unknown
     * @param isLast whether it will not be called again
     */
    synchronized void load(OffsetRuns stored, Uuid target, long nowNanos, boolean isLast) {
        forgetIfReplaced(target);
        if (stored.end() >= former.end()) { // otherwise somebody has written older state meanwhile
            former = stored;
        }
        if (!isLoaded) {
            isLoaded = true;
            loadedNanos = nowNanos;
        }
        if (isLast || former.end() >= begunAt || begunAt == 0) {
            runs = withFormer();
            former = new OffsetRuns();
            isComplete = true;
        }
    }

    private OffsetRuns withFormer() {
        OffsetRuns all = former.copy();
        all.begin(begunAt);
        if (runs.isEmpty()) {
            all.begin(begunAgainAt);
        } else {
            all.appendAll(runs);
        }
        return all;
    }

    /** Returns the id of the target's topic that has the records; zero if unknown. */
    synchronized Uuid targetId() {
        return targetId;
    }

    /** Forgets all if the target's topic, unless it is unknown, has another id than before; returns whether it has. */
    synchronized boolean forgetIfReplaced(Uuid target) {
        boolean isReplaced = TopicIdentities.differ(targetId, target);
        if (isReplaced) {
            former = new OffsetRuns();
            runs = new OffsetRuns();
            uncommitted.clear();
            hasChanged = true;
        }
        if (!target.equals(Uuid.ZERO_UUID)) {
            targetId = target;
        }
        return isReplaced;
    }

    /** Returns a copy of what may be shown. */
    OffsetRuns committedRuns() {
        OffsetRuns copy;
        long lostFrom;
        synchronized (this) {
            copy = isComplete ? runs.copy() : withFormer();
            lostFrom = uncommitted.leastTarget();
        }
        copy.truncate(lostFrom); // new records are there: the target has lost some
        return copy;
    }

    synchronized int size() {
        return runs.size();
    }

    /** Returns whether all that it knows is kept. */
    synchronized boolean isKept() {
        return isComplete && !hasChanged;
    }

    /** Returns whether there is something to keep. */
    synchronized boolean hasChanged() {
        return isComplete && hasChanged;
    }

    /** Returns {@link #hasChanged}; from now on, only what is new counts. */
    synchronized boolean takeChanged() {
        boolean changed = hasChanged();
        hasChanged &= !changed;
        return changed;
    }

    /** To be called when the changes that were taken could not be kept. */
    synchronized void onNotKept() {
        hasChanged = true;
    }

    /** Returns the committed position, if its target offset is not known; otherwise -1. */
    synchronized long positionWithoutAnchor() {
        return isLoaded && uncommitted.isEmpty() && !runs.isEndKnown() ? committed : -1;
    }

    /**
     * Notes that all records before this source position are before this target offset, and none from there on is
     * copied.
     */
    synchronized void anchor(long source, long target) {
        if (source == committed && uncommitted.isEmpty()) {
            runs.anchor(source, target);
            hasChanged = true;
        }
    }

    /** To be called when the source no longer has the records before this offset. */
    synchronized void dropBefore(long source) {
        runs.dropBefore(source);
    }
}
