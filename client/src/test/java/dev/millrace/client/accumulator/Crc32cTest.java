package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** The JDK's CRC32C over the whole is the oracle for joined pieces. */
class Crc32cTest {
    @Test
    void shouldBeTheCrcOfTheWholeWhenTwoPiecesAreJoined() {
        Random random = Seed.random("Crc32cTest");

        for (int i = 0; i < 3_000; i++) {
            byte[] whole = new byte[random.nextInt(i % 10 == 0 ? 70_000 : 300)];
            random.nextBytes(whole);
            int cut = random.nextInt(whole.length + 1);
            int first = Crc32c.of(whole, 0, cut);
            int second = Crc32c.of(whole, cut, whole.length);

            assertThat(Crc32c.join(first, second, whole.length - cut)).isEqualTo(jdk(whole));
        }
    }

    @Test
    void shouldBeTheCrcOfTheOtherPieceWhenOneIsEmpty() {
        byte[] bytes = {1, 2, 3, 4, 5};
        int crc = Crc32c.of(bytes, 0, 5);
        int empty = Crc32c.of(bytes, 2, 2);

        assertThat(Crc32c.join(crc, empty, 0)).isEqualTo(crc);
        assertThat(Crc32c.join(empty, crc, 5)).isEqualTo(crc);
        assertThat(Crc32c.join(empty, empty, 0)).isEqualTo(empty).isZero();
    }

    @Test
    void shouldJoinWhenTheSecondPieceIsAsLongAsAPowerOfTwo() {
        Random random = Seed.random("Crc32cTest");
        for (int bit = 0; bit <= 20; bit++) {
            for (int length = Math.max(0, (1 << bit) - 1); length <= (1 << bit) + 1; length++) {
                byte[] whole = new byte[40 + length];
                random.nextBytes(whole);

                int joined = Crc32c.join(Crc32c.of(whole, 0, 40), Crc32c.of(whole, 40, whole.length), length);

                assertThat(joined).as("length %d", length).isEqualTo(jdk(whole));
            }
        }
    }

    private static int jdk(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return (int) crc.getValue();
    }
}
