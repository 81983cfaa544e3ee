package dev.millrace.testkit.oracle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class StampTest {
    private static final Stamp STAMP = new Stamp(-7L, 3, "tøpic", 31, 123_456_789);

    @Test
    void shouldComeBackWhenEncoded() {
        byte[] padded = STAMP.encode(100);
        byte[] tight = STAMP.encode(0);

        assertThat(padded).hasSize(100);
        assertThat(tight).hasSizeLessThan(40);
        assertThat(Stamp.decode(padded)).isEqualTo(STAMP);
        assertThat(Stamp.decode(tight)).isEqualTo(STAMP);
    }

    @Test
    void shouldBeRefusedWhenAnyBitHasChanged() {
        byte[] value = STAMP.encode(50);

        for (int bit = 0; bit < value.length * Byte.SIZE; bit++) {
            byte[] damaged = value.clone();
            damaged[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            assertThatThrownBy(() -> Stamp.decode(damaged))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("checksum");
        }
    }

    @Test
    void shouldBeRefusedWhenValueIsNoStamp() {
        assertThatThrownBy(() -> Stamp.decode(null)).hasMessage("Not a stamp: null");
        assertThatThrownBy(() -> Stamp.decode(new byte[3]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Not a stamp: 3 bytes, a stamp has at least 30");
    }

    @Test
    void shouldNameWhatIsWrongWhenOutOfRange() {
        assertThatThrownBy(() -> new Stamp(1, 1, "t", -2, 0)).hasMessage("partition is -2, must be -1 or more");
        assertThatThrownBy(() -> new Stamp(1, 1, "t", 0, 1L << 31))
                .hasMessage("sequence is 2147483648, must be from 0 to 2147483646");
    }
}
