package dev.millrace.client.accumulator;

/**
 * The word that writers of an open batch change by compare-and-set:
 * {@code sealed(1) | record count(23) | byte position(31)}.
 *
 * <p>Count and position are claimed together because the length of a record depends on its own index: the offset delta
 * is a varint, and a v2 batch has no padding that could absorb a wrong length.
 */
final class BatchTail {
    static final int MAX_RECORDS = (1 << 23) - 1;

    private static final int COUNT_SHIFT = 31;
    private static final long POSITION_MASK = (1L << COUNT_SHIFT) - 1;
    private static final long SEALED = 1L << 63;

    private BatchTail() {}

    static long of(int count, int position) {
        return (long) count << COUNT_SHIFT | position;
    }

    static boolean isSealed(long tail) {
        return tail < 0;
    }

    static long seal(long tail) {
        return tail | SEALED;
    }

    static int count(long tail) {
        return (int) ((tail & ~SEALED) >>> COUNT_SHIFT);
    }

    static int position(long tail) {
        return (int) (tail & POSITION_MASK);
    }
}
