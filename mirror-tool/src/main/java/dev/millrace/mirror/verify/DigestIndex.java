package dev.millrace.mirror.verify;

import java.util.Arrays;

/** Finds the places of a digest in a window. The window must not change while its index is in use. */
final class DigestIndex {
    private static final int NONE = -1;
    /** Checks at most this many places of one digest; only very many fully equal records need more. */
    private static final int MOST_PLACES = 64;

    private final RecordWindow window;
    /** The first place of each slot's digests, by slot. */
    private final int[] first;
    /** The next place of the same slot, by place. */
    private final int[] next;

    DigestIndex(RecordWindow window) {
        this.window = window;
        first = new int[Math.max(2, Integer.highestOneBit(Math.max(1, window.size())) << 1)];
        Arrays.fill(first, NONE);
        next = new int[window.size()];
        for (int place = window.size() - 1; place >= 0; place--) {
            int slot = slot(window.digest(place));
            next[place] = first[slot];
            first[slot] = place;
        }
    }

    /**
     * Returns the first place below {@code limit} from which {@code needed} records, or all that are left of a side
     * that has ended, equal those of the other window from {@code from} on; −1 if there is none.
     */
    int findRun(RecordWindow other, int from, boolean isOtherAtEnd, boolean isThisAtEnd, int needed, int limit) {
        int looks = MOST_PLACES;
        for (int place = first[slot(other.digest(from))]; place != NONE && place < limit; place = next[place]) {
            if (looks-- == 0) {
                return NONE;
            }
            int run = 0;
            while (run < needed
                    && place + run < window.size()
                    && from + run < other.size()
                    && window.digest(place + run) == other.digest(from + run)) {
                run++;
            }
            boolean isCutByEnd =
                    (isThisAtEnd && place + run == window.size()) || (isOtherAtEnd && from + run == other.size());
            if (run >= needed || (run > 0 && isCutByEnd)) {
                return place;
            }
        }
        return NONE;
    }

    /** Returns the digest's slot. Digests are well mixed, so their low bits suffice. */
    private int slot(long digest) {
        return (int) digest & first.length - 1;
    }
}
