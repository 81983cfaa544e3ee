package dev.millrace.client.accumulator;

import java.util.zip.CRC32C;

/**
 * Computes the CRC-32C of bytes, and of two adjacent pieces from the CRC of each.
 *
 * <p>The last writer of a batch computes the checksum of its records on the application's thread. When the I/O thread
 * has written producer id and sequence into the header, it computes the checksum of those 40 bytes and joins both,
 * instead of reading the records again. Joining appends zeros to the first piece: a multiplication by x^(8·length)
 * modulo the CRC's polynomial, by repeated squaring as in M. Adler's crc32_combine.
 */
final class Crc32c {
    /** The Castagnoli polynomial, bits reversed; x^0 is the highest bit. */
    private static final int POLYNOMIAL = 0x82F63B78;

    private static final int ONE = 1 << 31;

    /** {@code POWERS[k]} is x^(8·2^k) modulo the polynomial. */
    private static final int[] POWERS = new int[31];

    static {
        int power = ONE >>> 8;
        for (int k = 0; k < POWERS.length; k++) {
            POWERS[k] = power;
            power = multiply(power, power);
        }
    }

    private Crc32c() {}

    static int of(byte[] bytes, int from, int to) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, from, to - from);
        return (int) crc.getValue();
    }

    /**
     * Returns the CRC of a piece with CRC {@code first} followed by {@code secondLength} bytes with CRC {@code second}.
     */
    static int join(int first, int second, int secondLength) {
        int shift = ONE;
        for (int k = 0, rest = secondLength; rest != 0; k++, rest >>>= 1) {
            if ((rest & 1) != 0) {
                shift = multiply(shift, POWERS[k]);
            }
        }
        return multiply(shift, first) ^ second;
    }

    /**
     * Returns the CRC of the second piece from those of the first and of both together: the inverse of {@link #join}.
     */
    static int second(int first, int both, int secondLength) {
        return join(first, both, secondLength); // join adds the shifted first; adding it again removes it
    }

    private static int multiply(int a, int b) {
        int product = 0;
        int factor = b;
        for (int bits = a; bits != 0; bits <<= 1) {
            product ^= factor & (bits >> 31);
            factor = (factor >>> 1) ^ (POLYNOMIAL & -(factor & 1));
        }
        return product;
    }
}
