package dev.millrace.mirror.verify;

/** The next records of one side in order, each an offset and a digest. Takes 16 bytes for a record. */
final class RecordWindow {
    private long[] offsets = new long[64];
    private long[] digests = new long[64];
    private int first;
    private int size;

    void add(long offset, long digest) {
        if (size == offsets.length) {
            grow();
        }
        int slot = slot(size++);
        offsets[slot] = offset;
        digests[slot] = digest;
    }

    private void grow() {
        long[] grownOffsets = new long[2 * size];
        long[] grownDigests = new long[2 * size];
        for (int i = 0; i < size; i++) {
            grownOffsets[i] = offset(i);
            grownDigests[i] = digest(i);
        }
        offsets = grownOffsets;
        digests = grownDigests;
        first = 0;
    }

    /** Returns the offset of a record; the index counts from the first record. */
    long offset(int index) {
        return offsets[slot(index)];
    }

    long digest(int index) {
        return digests[slot(index)];
    }

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** Drops this many of the first records. */
    void drop(int records) {
        first = slot(records);
        size -= records;
    }

    void clear() {
        drop(size);
    }

    private int slot(int index) {
        return first + index & offsets.length - 1;
    }
}
