package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class BatchTailTest {
    @Test
    void shouldGiveBackBothNumbersWhenTheyAreAsLargeAsTheyGet() {
        for (int count : new int[] {0, 1, 127, BatchTail.MAX_RECORDS - 1, BatchTail.MAX_RECORDS}) {
            for (int position : new int[] {0, 61, Integer.MAX_VALUE - 1, Integer.MAX_VALUE}) {
                assertHolds(count, position);
            }
        }
    }

    @Test
    void shouldGiveBackBothNumbersWhenTheyAreRandom() {
        Random random = Seed.random("BatchTailTest");

        for (int i = 0; i < 10_000; i++) {
            assertHolds(random.nextInt(BatchTail.MAX_RECORDS + 1), random.nextInt() & Integer.MAX_VALUE);
        }
    }

    @Test
    void shouldChangeNothingWhenItIsSealedTwice() {
        long sealed = BatchTail.seal(BatchTail.of(7, 99));

        assertThat(BatchTail.seal(sealed)).isEqualTo(sealed);
    }

    private static void assertHolds(int count, int position) {
        long open = BatchTail.of(count, position);
        long sealed = BatchTail.seal(open);

        assertThat(BatchTail.isSealed(open)).isFalse();
        assertThat(BatchTail.isSealed(sealed)).isTrue();
        for (long tail : new long[] {open, sealed}) {
            assertThat(BatchTail.count(tail)).isEqualTo(count);
            assertThat(BatchTail.position(tail)).isEqualTo(position);
        }
    }
}
