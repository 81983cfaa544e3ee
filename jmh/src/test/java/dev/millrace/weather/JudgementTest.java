package dev.millrace.weather;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.oracle.Comparison;
import dev.millrace.weather.Judgement.Promise;
import java.util.List;
import org.junit.jupiter.api.Test;

class JudgementTest {
    private static final Comparison GOOD = comparison(0, 0, 0, 0, 0);

    @Test
    void shouldFindNothingInAFaithfulCopy() {
        assertThat(Judgement.of(GOOD, GOOD, Promise.EXACT)).matches(Judgement::isClean);
    }

    @Test
    void shouldFindALostRecordWhateverIsPromised() {
        Comparison lost = comparison(1, 0, 0, 0, 0);

        for (Promise promise : Promise.values()) {
            assertThat(Judgement.of(lost, lost, promise).lost()).isEqualTo(1);
        }
    }

    @Test
    void shouldFindADoubledRecordUnlessItIsAllowed() {
        Comparison doubled = comparison(0, 1, 0, 0, 0);

        Judgement exact = Judgement.of(doubled, doubled, Promise.EXACT);
        Judgement atLeastOnce = Judgement.of(doubled, doubled, Promise.AT_LEAST_ONCE);

        assertThat(exact.doubled()).isEqualTo(1);
        assertThat(exact.allowed()).isZero();
        assertThat(atLeastOnce.isClean()).isTrue();
        assertThat(atLeastOnce.allowed()).isEqualTo(1);
    }

    @Test
    void shouldFindAReorderedFirstCopyUnlessOnlyCompletenessIsPromised() {
        Comparison reordered = comparison(0, 0, 1, 0, 0);

        assertThat(Judgement.of(reordered, reordered, Promise.EXACT).reordered())
                .isEqualTo(1);
        assertThat(Judgement.of(reordered, reordered, Promise.AT_LEAST_ONCE).reordered())
                .isEqualTo(1);
        assertThat(Judgement.of(reordered, reordered, Promise.ONLY_COMPLETE).allowed())
                .isEqualTo(1);
    }

    @Test
    void shouldFindAReorderedLastCopyOnlyWhereNothingMayBeDoubled() {
        Comparison reordered = comparison(0, 1, 0, 1, 0);

        assertThat(Judgement.of(reordered, reordered, Promise.EXACT).reordered())
                .isEqualTo(1);
        assertThat(Judgement.of(reordered, reordered, Promise.AT_LEAST_ONCE)).matches(Judgement::isClean);
    }

    @Test
    void shouldCountAChangedRecordOnceThoughItsOriginalIsMissing() {
        Comparison changed = comparison(1, 0, 0, 0, 1);

        Judgement judgement = Judgement.of(changed, changed, Promise.ONLY_COMPLETE);

        assertThat(judgement.changed()).isEqualTo(1);
        assertThat(judgement.lost()).isZero();
    }

    @Test
    void shouldTellARecordOfAnAbortedTransactionFromAChangedOne() {
        Judgement judgement = Judgement.of(comparison(0, 0, 0, 0, 1), GOOD, Promise.ONLY_COMPLETE);

        assertThat(judgement.aborted()).isEqualTo(1);
        assertThat(judgement.changed()).isZero();
        assertThat(judgement.isClean()).isFalse();
    }

    @Test
    void shouldAllowDoublesOnlyOfOldRecordsThatAFrozenProcessGoesOnCopying() {
        MirrorKind exact = new MirrorKind(2, 1, "auto", "exact", 16, "");
        MirrorKind exactlyOnce = new MirrorKind(2, 1, "auto", "exactly-once", 16, "");

        assertThat(Promise.of(exact, topic(3), true)).isEqualTo(Promise.ONLY_COMPLETE);
        assertThat(Promise.of(exact, topic(3), false)).isEqualTo(Promise.EXACT);
        assertThat(Promise.of(exact, topic(0), true)).isEqualTo(Promise.EXACT);
        assertThat(Promise.of(exactlyOnce, topic(3), true)).isEqualTo(Promise.EXACT);
    }

    private static TopicKind topic(int ageDays) {
        return new TopicKind("weather-0", 1, "none", 100, 0, 16_384, ageDays, false, false, 100);
    }

    private static Comparison comparison(long lost, long doubled, long reordered, long lastReordered, long unexpected) {
        return new Comparison(
                100, 100 - lost + doubled, lost, doubled, reordered, lastReordered, 0, unexpected, List.of());
    }
}
