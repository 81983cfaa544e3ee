package dev.millrace.mirror.member;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RoundsTest {
    private static final long MS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Rounds rounds = new Rounds(0);

    @Test
    void shouldBeDueEachSecondWhileThereIsWork() {
        assertThat(rounds.isDue(900 * MS)).isFalse();
        assertThat(rounds.isDue(1_100 * MS))
                .as("what has happened before the first is not known")
                .isTrue();
        rounds.onWork(true);
        rounds.onWork(false);
        assertThat(rounds.isDue(1_900 * MS)).isFalse();
        assertThat(rounds.isDue(2_200 * MS)).isTrue();
    }

    @Test
    void shouldBeDueAfterThreeSecondsWithoutWorkAndAtOnceWhenThereIsSome() {
        assertThat(rounds.isDue(1_100 * MS)).isTrue();
        rounds.onWork(false);
        assertThat(rounds.isDue(4_000 * MS)).isFalse();
        assertThat(rounds.isDue(4_200 * MS)).isTrue();
        assertThat(rounds.isDue(6_000 * MS)).isFalse();
        rounds.onWork(true);
        assertThat(rounds.isDue(6_000 * MS)).isTrue();
    }
}
