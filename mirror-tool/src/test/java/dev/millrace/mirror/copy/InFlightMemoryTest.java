package dev.millrace.mirror.copy;

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
        for (int stuck = 0; stuck < 100; stuck++) {
            taken.add(fill(memory.new Share()));
        }

        assertThat(taken.stream().mapToLong(Long::longValue).sum()).isLessThan(DIVIDED + DIVIDED / 2);
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
        other.update(10 * SIZE);

        InFlightMemory.Share share = small.new Share();
        assertThat(share.room(0)).isPositive();
        assertThat(share.room(SIZE)).isNotPositive();
    }

    @Test
    void shouldLetAPartitionMoveOnWhenOthersHoldAllThatIsDivided() {
        memory.new Share().update(3 * DIVIDED);

        assertThat(fill(memory.new Share())).isBetween(DIVIDED / 300, DIVIDED / 200);
    }

    @Test
    void shouldTakeNothingMoreForAPartitionThatWasGivenUp() {
        InFlightMemory.Share given = memory.new Share();
        fill(given);
        given.close();

        given.room(DIVIDED / 2); // by a worker that did not know it yet

        assertThat(memory.new Share().room(0)).isEqualTo(DIVIDED);
    }

    @Test
    void shouldLetAllTogetherHaveNoMoreInFlightThanTheLimit() {
        memory.limit(10 * SIZE);
        memory.new Share().update(9 * SIZE);

        InFlightMemory.Share last = memory.new Share();
        assertThat(last.room(0)).isPositive();
        last.update(SIZE);

        assertThat(memory.new Share().room(0)).as("not even one batch").isZero();
    }

    @Test
    void shouldLetNoPartitionHaveMoreInFlightThanTheLimitHoweverSmallThatIs() {
        InFlightMemory large = new InFlightMemory(32 << 20);
        large.limit(4_096);

        assertThat(large.new Share().room(0)).isEqualTo(4_096);
    }

    /** Sends record by record until there is no room; returns the bytes then in flight. */
    private static long fill(InFlightMemory.Share share) {
        long bytes = 0;
        while (share.room(bytes) > 0) {
            bytes += SIZE;
        }
        return bytes;
    }
}
