package dev.millrace.mirror.verify;

import java.util.function.LongPredicate;

/**
 * The last record of each key on either side, by the checksum of the key, in a hash table without an object for each
 * key. It takes 40 bytes for a slot and has at most twice as many slots as keys.
 */
final class KeyTable {
    /** Replaces a record's digest if the side has no record of the key, or its last record deletes the key. */
    static final long NONE = 0;

    private static final int FIRST_SLOTS = 1_024;

    private long[] keys = new long[FIRST_SLOTS];
    private boolean[] isUsed = new boolean[FIRST_SLOTS];
    private long[] sourceDigests = new long[FIRST_SLOTS];
    private long[] targetDigests = new long[FIRST_SLOTS];
    private long[] sourceOffsets = new long[FIRST_SLOTS];
    private long[] targetOffsets = new long[FIRST_SLOTS];
    private int size;

    interface Visitor {
        void visit(long key, long sourceDigest, long sourceOffset, long targetDigest, long targetOffset);
    }

    int size() {
        return size;
    }

    void putSource(long key, long digest, long offset) {
        int slot = slotFor(key);
        sourceDigests[slot] = digest;
        sourceOffsets[slot] = offset;
    }

    void putTarget(long key, long digest, long offset) {
        int slot = slotFor(key);
        targetDigests[slot] = digest;
        targetOffsets[slot] = offset;
    }

    void forEach(Visitor visitor) {
        for (int slot = 0; slot < keys.length; slot++) {
            if (isUsed[slot]) {
                visitor.visit(
                        keys[slot], sourceDigests[slot], sourceOffsets[slot], targetDigests[slot], targetOffsets[slot]);
            }
        }
    }

    /** Removes the other keys. */
    void retain(LongPredicate isKept) {
        rebuild(keys.length, isKept);
    }

    private int slotFor(long key) {
        int slot = find(key);
        if (!isUsed[slot]) {
            if (2 * (size + 1) > keys.length) {
                rebuild(2 * keys.length, any -> true);
                slot = find(key);
            }
            isUsed[slot] = true;
            keys[slot] = key;
            sourceOffsets[slot] = PartitionTally.NO_OFFSET;
            targetOffsets[slot] = PartitionTally.NO_OFFSET;
            size++;
        }
        return slot;
    }

    /** Returns the slot of the key, or the free one for it. */
    private int find(long key) {
        int slot = (int) (key >>> 32) & keys.length - 1; // the lower half selects the part
        while (isUsed[slot] && keys[slot] != key) {
            slot = slot + 1 & keys.length - 1;
        }
        return slot;
    }

    private void rebuild(int slots, LongPredicate isKept) {
        KeyTable former = new KeyTable();
        former.keys = keys;
        former.isUsed = isUsed;
        former.sourceDigests = sourceDigests;
        former.sourceOffsets = sourceOffsets;
        former.targetDigests = targetDigests;
        former.targetOffsets = targetOffsets;
        keys = new long[slots];
        isUsed = new boolean[slots];
        sourceDigests = new long[slots];
        targetDigests = new long[slots];
        sourceOffsets = new long[slots];
        targetOffsets = new long[slots];
        size = 0;
        former.forEach((key, sourceDigest, sourceOffset, targetDigest, targetOffset) -> {
            if (isKept.test(key)) {
                putSource(key, sourceDigest, sourceOffset);
                putTarget(key, targetDigest, targetOffset);
            }
        });
    }
}
