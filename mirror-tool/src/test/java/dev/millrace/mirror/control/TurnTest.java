package dev.millrace.mirror.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** How fast bytes pass, by a clock that the test drives. */
class TurnTest {
    private static final long SECOND = 1_000_000_000;
    private static final Optional<Pattern> ALL = Optional.empty();
    private static final Optional<Pattern> A = Optional.of(Pattern.compile("a"));

    private long now = 17;
    private final TopicControls controls = new TopicControls(() -> now);
    private final Turn turn = controls.of("a").newTurn();

    @Test
    void shouldLetAllPassWithoutALimit() {
        assertThat(turn.isThrottled()).isFalse();
        assertThat(turn.tryPass(Long.MAX_VALUE)).isTrue();
        assertThat(turn.isWaiting()).isFalse();
    }

    @Test
    void shouldLetTheNextPassWhenThatBeforeIsPaidFor() {
        controls.throttle(A, 1_000);

        assertThat(turn.tryPass(500)).isTrue();
        assertThat(turn.tryPass(10)).isFalse();
        assertThat(turn.isWaiting()).isTrue();
        now += SECOND / 2 - 1;
        assertThat(turn.tryPass(10)).isFalse();
        now += 1;
        assertThat(turn.tryPass(10)).isTrue();
        assertThat(turn.isWaiting()).isFalse();
    }

    @Test
    void shouldSaveTheRightOfOneSecondWhileNothingComes() {
        controls.throttle(A, 1_000);
        now += 100 * SECOND;

        int passed = 0;
        while (turn.tryPass(100)) {
            passed++;
        }

        assertThat(passed).as("those of a second, and the one that ends it").isEqualTo(11);
    }

    @Test
    void shouldLimitEachTopicByItselfAndAllTogether() {
        Turn other = controls.of("b").newTurn();
        controls.throttle(A, 1_000);
        assertThat(turn.tryPass(1_000)).isTrue();
        assertThat(turn.tryPass(1)).isFalse();
        assertThat(other.tryPass(1_000_000)).isTrue();

        controls.throttle(ALL, 2_000);
        assertThat(other.tryPass(4_000)).isTrue();
        assertThat(other.tryPass(1)).isFalse();
        now += SECOND;
        assertThat(turn.tryPass(1)).as("its topic may, not the mirror").isFalse();
        now += SECOND;
        assertThat(other.tryPass(1)).isTrue();
        assertThat(turn.tryPass(1)).isFalse();
        now += SECOND;
        assertThat(turn.tryPass(1)).isTrue();
    }

    @Test
    void shouldLetPartitionsPassInTheOrderInWhichTheyAskedFirst() {
        Turn second = controls.of("a").newTurn();
        Turn third = controls.of("a").newTurn();
        controls.throttle(A, 1_000);
        assertThat(turn.tryPass(1_000)).isTrue();
        assertThat(second.tryPass(1_000)).isFalse();
        assertThat(third.tryPass(1_000)).isFalse();
        assertThat(turn.tryPass(1_000)).isFalse();

        now += SECOND;
        assertThat(turn.tryPass(1_000)).isFalse();
        assertThat(third.tryPass(1_000)).isFalse();
        assertThat(second.tryPass(1_000)).isTrue();
        now += SECOND;
        assertThat(second.tryPass(1_000)).isFalse();
        assertThat(third.tryPass(1_000)).isTrue();
        now += SECOND;
        assertThat(turn.tryPass(1_000)).isTrue();
    }

    @Test
    void shouldForgetItsDebtWhenTheLimitChanges() {
        controls.throttle(A, 1_000);
        assertThat(turn.tryPass(1_000_000)).isTrue();
        assertThat(turn.tryPass(10)).isFalse();

        controls.throttle(A, 2_000);
        assertThat(turn.tryPass(10)).isTrue();
        assertThat(turn.tryPass(10)).isFalse();

        controls.throttle(A, ByteRate.NONE);
        assertThat(turn.isThrottled()).as("to take note that nobody waits").isTrue();
        assertThat(turn.tryPass(10)).isTrue();
        assertThat(turn.isThrottled()).isFalse();
        assertThat(turn.isWaiting()).isFalse();
    }

    @Test
    void shouldKeepTheBucketWhenTheSameLimitIsSetAgain() {
        controls.throttle(A, 1_000);
        assertThat(turn.tryPass(1_000)).isTrue();

        controls.throttle(A, 1_000);
        assertThat(turn.tryPass(1)).isFalse();
    }

    @Test
    void shouldNeverLetMorePassThanTheLimitAllows() {
        long seed = Long.getLong("millrace.seed", System.nanoTime());
        Random random = new Random(seed);
        int largest = 50_000;
        long rate = 100_000;
        controls.throttle(ALL, rate);
        long start = now;
        long passed = 0;
        List<Turn> turns = new ArrayList<>();
        List<Integer> sizes = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            turns.add(controls.of("t" + i).newTurn());
            sizes.add(random.nextInt(largest));
        }

        for (int step = 0; step < 20_000; step++) {
            now += random.nextInt(20) == 0 ? SECOND * random.nextInt(5) : random.nextInt(20_000_000);
            int i = random.nextInt(turns.size());
            if (turns.get(i).tryPass(sizes.get(i))) {
                passed += sizes.get(i);
                sizes.set(i, random.nextInt(largest));
            }
            assertThat((double) passed)
                    .as("seed %d, step %d", seed, step)
                    .isLessThanOrEqualTo((now - start) / (double) SECOND * rate + largest + 1);
        }
        assertThat(passed).isPositive();
    }
}
