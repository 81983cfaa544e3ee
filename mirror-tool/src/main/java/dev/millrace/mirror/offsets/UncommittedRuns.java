package dev.millrace.mirror.offsets;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Keeps the offsets of records that the target has acknowledged but whose positions the mirror's group has not
 * committed yet. They are kept apart from {@link OffsetRuns} because another member may have copied the same records in
 * the meantime, which makes these offsets worthless.
 *
 * <p><b>Bounds:</b> at most {@value OffsetRuns#MOST} runs. When there are more, the older half becomes one whose target
 * offsets are unknown.
 *
 * <p><b>Threads:</b> one at a time.
 */
public final class UncommittedRuns {
    private static final long UNKNOWN = -1;

    private final Deque<Run> runs = new ArrayDeque<>();

    /**
     * Records whose offsets are consecutive on both sides.
     *
     * @param target offset of the first, or -1 if it is not known
     */
    private record Run(long source, long target, long count) {
        long end() {
            return source + count;
        }

        boolean isFollowedBy(Run next) {
            return end() == next.source && next.target == (target < 0 ? UNKNOWN : target + count);
        }

        Run before(long position) {
            return new Run(source, target, position - source);
        }

        Run from(long position) {
            return new Run(position, target < 0 ? UNKNOWN : target + position - source, end() - position);
        }

        void appendTo(OffsetRuns committed) {
            if (target < 0) {
                committed.appendUnknown(source, count);
            } else {
                committed.append(source, target, count);
            }
        }
    }

    public boolean isEmpty() {
        return runs.isEmpty();
    }

    /** Returns the first target offset known to have a record; the largest number if there is none. */
    public long leastTarget() {
        return runs.stream()
                .mapToLong(Run::target)
                .filter(target -> target >= 0)
                .min()
                .orElse(Long.MAX_VALUE);
    }

    public void clear() {
        runs.clear();
    }

    /**
     * Adds records whose offsets are consecutive on both sides. Forgets what was known from there on, because it is
     * copied again.
     *
     * @param target offset of the first, or -1 if it is not known
     */
    public void add(long source, long target, long count) {
        removeFrom(source);
        Run next = new Run(source, target < 0 ? UNKNOWN : target, count);
        Run last = runs.peekLast();
        if (last != null && last.isFollowedBy(next)) {
            runs.removeLast();
            runs.addLast(last.before(next.end()));
        } else {
            if (runs.size() == OffsetRuns.MOST) {
                mergeOlder();
            }
            runs.addLast(next);
        }
    }

    private void removeFrom(long source) {
        while (!runs.isEmpty() && runs.peekLast().end() > source) {
            Run last = runs.removeLast();
            if (last.source < source) {
                runs.addLast(last.before(source));
            }
        }
    }

    private void mergeOlder() {
        Run first = runs.peekFirst();
        Run last = first;
        for (int i = 0; i < OffsetRuns.MOST / 2; i++) {
            last = runs.removeFirst();
        }
        runs.addFirst(new Run(first.source, UNKNOWN, last.end() - first.source));
    }

    /** Moves what is before a position that the group has committed to the committed runs. */
    public void moveBefore(long position, OffsetRuns committed) {
        while (!runs.isEmpty() && runs.peekFirst().source < position) {
            Run run = runs.removeFirst();
            if (run.end() > position) {
                runs.addFirst(run.from(position));
                run = run.before(position);
            }
            run.appendTo(committed);
        }
    }
}
