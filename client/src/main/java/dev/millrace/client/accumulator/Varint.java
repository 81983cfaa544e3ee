package dev.millrace.client.accumulator;

/**
 * Zigzag varints as the record format v2 uses them (KIP-98): small magnitudes of either sign take few bytes. {@code
 * sizeOf} for a value that was read is the number of bytes that it took.
 */
final class Varint {
    private Varint() {}

    // 7 bits per byte: 9/64 is close enough to 1/7 for up to 64 bits, and a shift is faster than a division.

    static int sizeOf(int value) {
        int zigzag = (value << 1) ^ (value >> 31);
        return (352 - 9 * Integer.numberOfLeadingZeros(zigzag)) >>> 6;
    }

    static int sizeOf(long value) {
        long zigzag = (value << 1) ^ (value >> 63);
        return (640 - 9 * Long.numberOfLeadingZeros(zigzag)) >>> 6;
    }

    static int readInt(byte[] source, int position) {
        return (int) readLong(source, position);
    }

    static long readLong(byte[] source, int position) {
        long zigzag = 0;
        int at = position;
        int shift = 0;
        byte next;
        do {
            next = source[at++];
            zigzag |= (long) (next & 0x7f) << shift;
            shift += 7;
        } while (next < 0);
        return (zigzag >>> 1) ^ -(zigzag & 1);
    }

    /** Writes {@code value} at {@code position} and returns the position after it. */
    static int write(byte[] target, int position, int value) {
        int rest = (value << 1) ^ (value >> 31);
        int at = position;
        while ((rest & ~0x7f) != 0) {
            target[at++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        target[at++] = (byte) rest;
        return at;
    }

    /** Writes {@code value} at {@code position} and returns the position after it. */
    static int write(byte[] target, int position, long value) {
        long rest = (value << 1) ^ (value >> 63);
        int at = position;
        while ((rest & ~0x7fL) != 0) {
            target[at++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        target[at++] = (byte) rest;
        return at;
    }
}
