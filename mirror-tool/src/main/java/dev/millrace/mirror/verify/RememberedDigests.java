package dev.millrace.mirror.verify;

import java.util.Arrays;

/** Remembers a fixed number of the digests that were added last. Takes 24 bytes for each that it may hold. */
final class RememberedDigests {
    private static final long NONE = -1;

    /** The digests by addition number, modulo the capacity. */
    private final long[] digests;
    /** The number of the previous addition in the same slot, by addition number, modulo the capacity. */
    private final long[] earlier;
    /** The number of the last addition, by slot. */
    private final long[] last;

    private long added;

    /** @param capacity the number of digests to hold; rounded up to a power of two */
    RememberedDigests(int capacity) {
        int size = Integer.highestOneBit(Math.max(1, capacity - 1)) << 1;
        digests = new long[size];
        earlier = new long[size];
        last = new long[size];
        Arrays.fill(last, NONE);
    }

    void add(long digest) {
        int slot = slot(digest);
        long previous = last[slot];
        // A digest that is added many times in a row must not make a long chain.
        boolean isAgain = isHeld(previous) && digests[slot(previous)] == digest;
        digests[slot(added)] = digest;
        earlier[slot(added)] = isAgain ? earlier[slot(previous)] : previous;
        last[slot] = added++;
    }

    boolean contains(long digest) {
        for (long number = last[slot(digest)]; isHeld(number); number = earlier[slot(number)]) {
            if (digests[slot(number)] == digest) {
                return true;
            }
        }
        return false;
    }

    /** Whether an addition is still held. Chains lead to earlier additions, so after one not held, none is. */
    private boolean isHeld(long number) {
        return number >= 0 && number >= added - digests.length;
    }

    private int slot(long digestOrNumber) {
        return (int) digestOrNumber & digests.length - 1;
    }
}
