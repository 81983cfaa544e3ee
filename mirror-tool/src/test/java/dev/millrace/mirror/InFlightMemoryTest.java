package dev.millrace.mirror;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class InFlightMemoryTest {
    private static final long DIVIDED = 1_000_000;
    private static final int SIZE = 100;

    private final InFlightMemory memory = new InFlightMemory(2 * DIVIDED);

    @Test
    void shouldLetAPartitionAloneHaveHalfOfWhatIsDivided() {
        assertThat(fill(memory.new Share())).isEqualTo(DIVIDED / 2);
    }

    @Test
    void shouldLeaveRoomForTheOthersHoweverManyPartitionsAreStuck() {
        List<Long> taken = new ArrayList<>();
        for (int stuck = 0; stuck < 12; stuck++) {
            taken.add(fill(memory.new Share()));
        }

        assertThat(taken.stream().mapToLong(Long::longValue).sum()).isLessThan(DIVIDED);
        assertThat(taken).allSatisfy(bytes -> assertThat(bytes).isPositive());
    }

    @Test
    void shouldGiveBackWhatIsAcknowledged() {
        InFlightMemory.Share stuck = memory.new Share();
        fill(stuck);

        stuck.update(0);

        assertThat(fill(memory.new Share())).isEqualTo(DIVIDED / 2);
    }

    @Test
    void shouldAlwaysLetAPartitionHaveSomethingInFlight() {
        InFlightMemory small = new InFlightMemory(SIZE);
        InFlightMemory.Share other = small.new Share();
        other.onSent(1, 10 * SIZE);
        other.update(1);

        InFlightMemory.Share share = small.new Share();
        assertThat(share.hasRoom(0)).isTrue();
        share.onSent(1, SIZE);
        assertThat(share.hasRoom(1)).isFalse();
    }

    /** Sends record by record until there is no room; returns the bytes then in flight. */
    private static long fill(InFlightMemory.Share share) {
        long records = 0;
        while (share.hasRoom(records)) {
            share.onSent(1, SIZE);
            records++;
        }
        return records * SIZE;
    }
}
