package dev.millrace.testkit.oracle;

import java.util.Arrays;
import java.util.BitSet;

/** Finds the positions of hashes in an array: a hash table for millions of entries, without an object per entry. */
final class HashPositions {
    private static final int NONE = -1;

    private final long[] hashes;
    private final BitSet taken = new BitSet();

    /** For each slot: the first position of its hash; does not change. */
    private final int[] first;

    /** For each slot: the first position of its hash that is not taken. */
    private final int[] open;

    /** For each position: the next position of the same hash. */
    private final int[] next;

    HashPositions(long[] hashes) {
        this.hashes = hashes;
        first = new int[Math.max(2, Integer.highestOneBit(Math.max(1, hashes.length)) << 2)];
        Arrays.fill(first, NONE);
        next = new int[hashes.length];
        for (int position = hashes.length - 1; position >= 0; position--) {
            int slot = slot(hashes[position]);
            next[position] = first[slot];
            first[slot] = position;
        }
        open = first.clone();
    }

    /** Whether the hash is in the array, taken or not. */
    boolean contains(long hash) {
        return first[slot(hash)] != NONE;
    }

    /** Takes the first position of the hash that is not taken; −1 if there is none. */
    int take(long hash) {
        int slot = slot(hash);
        int position = open[slot];
        if (position != NONE) {
            open[slot] = next[position];
            taken.set(position);
        }
        return position;
    }

    boolean isTaken(int position) {
        return taken.get(position);
    }

    /** The slot of the hash, or the free slot for it. The hashes are well mixed, so their low bits are good enough. */
    private int slot(long hash) {
        int slot = (int) hash & (first.length - 1);
        while (first[slot] != NONE && hashes[first[slot]] != hash) {
            slot = slot + 1 & (first.length - 1);
        }
        return slot;
    }
}
