package dev.millrace.mirror.verify;

import java.util.OptionalLong;

/**
 * Matches records of the target to those of the source, in order and in one pass, although records may be missing,
 * added, changed or moved.
 *
 * <p>While the next records of both sides are equal, they are dropped. Where they differ, both sides are read ahead
 * until the nearest run of equal records is found; what is before it on either side is a gap and goes to {@link
 * FoundFaults}. The farther away a run is, the longer it must be, because records may be equal by chance. If no run is
 * within {@link Sizes#large} records of both sides, each side is searched once more to its end, because a single piece
 * of that length may be missing or doubled.
 *
 * <p><b>Threads:</b> one.
 */
final class Alignment {
    private static final int NONE = -1;
    private static final int SHORT_RUN = 2;
    private static final int RUN = 4;
    private static final int LONG_RUN = 8;

    /**
     * How many records are read ahead.
     *
     * @param step records read ahead while nothing differs
     * @param small records read ahead in the first search, for a run of 2
     * @param medium records read ahead in the second search, for a run of 4
     * @param large records read ahead in the last search, for a run of 8; bounds the memory
     */
    record Sizes(int step, int small, int medium, int large) {
        static final Sizes DEFAULT = new Sizes(1_000, 256, 4_096, 65_536);
    }

    private final RecordStream source;
    private final RecordStream target;
    private final FoundFaults faults;
    private final PartitionRange range;
    private final Sizes sizes;
    private final RecordWindow here = new RecordWindow();
    private final RecordWindow there = new RecordWindow();
    /** Whether a search to the ends may still find something. */
    private boolean isFarSearchUseful = true;

    /**
     * @param range if the target ends before all is found that it must have, the source is not read beyond that
     */
    Alignment(RecordStream source, RecordStream target, FoundFaults faults, PartitionRange range, Sizes sizes) {
        this.source = source;
        this.target = target;
        this.faults = faults;
        this.range = range;
        this.sizes = sizes;
    }

    /** Compares everything. Blocks while records arrive. */
    void run() {
        boolean hasMatched = false;
        while (true) {
            source.fill(here, sizes.step);
            target.fill(there, sizes.step);
            if (here.isEmpty() || there.isEmpty()) {
                break;
            }
            int equal = countEqual();
            int surplus = range.mayTargetLackFirst() && !hasMatched && equal > 0 ? surplusOfFirstRun() : 0;
            hasMatched |= equal > 0;
            if (surplus > 0) {
                giveUp(surplus, 0);
            } else if (equal > 0) {
                for (int i = 0; i < equal; i++) {
                    faults.onEqual(here.digest(i));
                }
                drop(equal, equal);
            } else {
                closeGap();
            }
        }
        while (!there.isEmpty()) {
            giveUp(0, there.size());
            target.fill(there, sizes.step);
        }
        giveUpCopied();
        faults.finish(here.isEmpty() ? OptionalLong.empty() : OptionalLong.of(here.offset(0)));
    }

    /**
     * Returns how many records of the source precede the first one of the target, although they are equal to it: what
     * the target has may begin within a run of equal records. It then goes on as the source does after that run.
     */
    private int surplusOfFirstRun() {
        int ofSource = firstRun(here);
        int ofTarget = firstRun(there);
        boolean doGoOnEqually =
                ofSource < here.size() && ofTarget < there.size() && here.digest(ofSource) == there.digest(ofTarget);
        return doGoOnEqually ? Math.max(0, ofSource - ofTarget) : 0;
    }

    private static int firstRun(RecordWindow window) {
        int equal = 1;
        while (equal < window.size() && window.digest(equal) == window.digest(0)) {
            equal++;
        }
        return equal;
    }

    private int countEqual() {
        int most = Math.min(here.size(), there.size());
        int equal = 0;
        while (equal < most && here.digest(equal) == there.digest(equal)) {
            equal++;
        }
        return equal;
    }

    /** Finds where the two sides match again. */
    private void closeGap() {
        if (isClosed(sizes.small, SHORT_RUN)
                || isClosed(sizes.medium, RUN)
                || isClosed(sizes.large, LONG_RUN)
                || isClosed(sizes.large, 1)
                || (isFarSearchUseful && isClosedFarAway())) {
            return;
        }
        isFarSearchUseful = false;
        // Nothing in common. If the target ends here, records after the copied part of the source may still be copied
        // later.
        boolean isEndOfTarget = target.isAtEnd();
        giveUp(isEndOfTarget ? copiedIn(here) : halfOf(here), isEndOfTarget ? there.size() : halfOf(there));
    }

    private static int halfOf(RecordWindow window) {
        return Math.max(1, window.size() / 2);
    }

    private boolean isClosed(int size, int needed) {
        source.fill(here, size);
        target.fill(there, size);
        boolean isHereAtEnd = source.isAtEnd();
        boolean isThereAtEnd = target.isAtEnd();
        DigestIndex index = new DigestIndex(there);
        int best = Integer.MAX_VALUE;
        int bestHere = NONE;
        for (int i = 0; i < here.size() && i < best; i++) {
            int j = index.findRun(here, i, isHereAtEnd, isThereAtEnd, needed, best - i);
            if (j >= 0) {
                best = i + j;
                bestHere = i;
            }
        }
        if (bestHere < 0) {
            return false;
        }
        giveUp(bestHere, best - bestHere);
        return true;
    }

    /** Reads both sides to their ends, in search of a run that comes next on the other side. */
    private boolean isClosedFarAway() {
        FarSearch search = new FarSearch(sizes.large, LONG_RUN);
        FarSearch.Found found = search.find(source, here, target, there);
        source.seek(here.offset(here.size() - 1) + 1);
        target.seek(there.offset(there.size() - 1) + 1);
        if (found == null) {
            return false;
        }
        int ofSource = (int) Math.min(found.sourceRecords(), sizes.large);
        int ofTarget = (int) Math.min(found.targetRecords(), sizes.large);
        giveUpFar(source, here, found.sourceRecords() - ofSource, true);
        giveUpFar(target, there, found.targetRecords() - ofTarget, false);
        source.fill(here, ofSource);
        target.fill(there, ofTarget);
        giveUp(ofSource, ofTarget);
        return true;
    }

    private void giveUpFar(RecordStream stream, RecordWindow window, long records, boolean isSource) {
        for (long left = records; left > 0; ) {
            stream.fill(window, sizes.large);
            int next = (int) Math.min(left, window.size());
            giveUp(isSource ? next : 0, isSource ? 0 : next);
            left -= next;
        }
    }

    /** Reports the first records of each side as a gap; the nearest equal records come after them. */
    private void giveUp(int ofSource, int ofTarget) {
        new GapAlignment(here, ofSource, there, ofTarget).report(faults);
        drop(ofSource, ofTarget);
    }

    /** The target has ended, so whatever else must be there is missing. */
    private void giveUpCopied() {
        while (copiedIn(here) > 0) {
            giveUp(copiedIn(here), 0);
            source.fill(here, sizes.step);
        }
    }

    private int copiedIn(RecordWindow window) {
        int copied = 0;
        while (copied < window.size() && window.offset(copied) < range.copiedUpTo()) {
            copied++;
        }
        return copied;
    }

    private void drop(int ofSource, int ofTarget) {
        here.drop(ofSource);
        there.drop(ofTarget);
    }
}
