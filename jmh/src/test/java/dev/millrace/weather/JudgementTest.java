package dev.millrace.weather;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.oracle.Comparison;
import dev.millrace.weather.TopicKind.Timestamps;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.common.record.internal.CompressionType;
import org.junit.jupiter.api.Test;

class JudgementTest {
    private static final Comparison GOOD = comparison(0, 0, 0, 0, 0);

    @Test
    void shouldFindNothingInAFaithfulCopy() {
        assertThat(judged(GOOD, Promise.EXACT)).matches(Judgement::isClean);
    }

    @Test
    void shouldFindALostRecordWhateverIsPromised() {
        for (Promise promise : Promise.values()) {
            assertThat(brokenIn(judged(comparison(1, 0, 0, 0, 0), promise))).containsExactly(Rule.LOST);
        }
    }

    @Test
    void shouldFindADoubledRecordUnlessItIsAllowed() {
        Comparison doubled = comparison(0, 1, 0, 0, 0);

        Judgement exact = judged(doubled, Promise.EXACT);
        Judgement atLeastOnce = judged(doubled, Promise.AT_LEAST_ONCE);

        assertThat(brokenIn(exact)).containsExactly(Rule.DOUBLED);
        assertThat(exact.allowed()).isZero();
        assertThat(atLeastOnce.isClean()).isTrue();
        assertThat(atLeastOnce.allowed()).isEqualTo(1);
    }

    @Test
    void shouldFindAReorderedFirstCopyUnlessOnlyCompletenessIsPromised() {
        Comparison reordered = comparison(0, 0, 1, 0, 0);

        assertThat(brokenIn(judged(reordered, Promise.EXACT))).containsExactly(Rule.REORDERED);
        assertThat(brokenIn(judged(reordered, Promise.AT_LEAST_ONCE))).containsExactly(Rule.REORDERED);
        assertThat(judged(reordered, Promise.ONLY_COMPLETE).allowed()).isEqualTo(1);
    }

    @Test
    void shouldFindAReorderedLastCopyOnlyWhereNothingMayBeDoubled() {
        Comparison reordered = comparison(0, 1, 0, 1, 0);

        assertThat(brokenIn(judged(reordered, Promise.EXACT))).containsExactly(Rule.DOUBLED, Rule.REORDERED);
        assertThat(judged(reordered, Promise.AT_LEAST_ONCE)).matches(Judgement::isClean);
    }

    @Test
    void shouldCountAChangedRecordOnceThoughItsOriginalIsMissing() {
        assertThat(brokenIn(judged(comparison(1, 0, 0, 0, 1), Promise.ONLY_COMPLETE)))
                .containsExactly(Rule.CHANGED);
    }

    @Test
    void shouldTellARecordOfAnAbortedTransactionFromAChangedOne() {
        Judgement judgement = new Judgement();

        judgement.judge("topic", Promise.EXACT, comparison(0, 0, 0, 0, 1), GOOD, GOOD, 0);

        assertThat(brokenIn(judgement)).containsExactly(Rule.ABORTED_READ);
    }

    @Test
    void shouldMissADeletedRecordOnlyIfNoMirrorHasNamedIt() {
        Comparison withDeleted = comparison(3, 0, 0, 0, 0);
        Judgement named = new Judgement();
        Judgement partlyNamed = new Judgement();

        named.judge("topic", Promise.EXACT, withDeleted, withDeleted, GOOD, 3);
        partlyNamed.judge("topic", Promise.EXACT, withDeleted, withDeleted, GOOD, 2);

        assertThat(named.isClean()).isTrue();
        assertThat(brokenIn(partlyNamed)).containsExactly(Rule.UNNAMED);
    }

    @Test
    void shouldAddUpWhatSeveralRunsHaveFound() {
        Judgement all = new Judgement();

        all.add(judged(comparison(1, 2, 0, 0, 0), Promise.EXACT));
        all.add(judged(comparison(1, 3, 0, 0, 0), Promise.AT_LEAST_ONCE));

        assertThat(all.broken(Rule.LOST)).isEqualTo(2);
        assertThat(all.broken(Rule.DOUBLED)).isEqualTo(2);
        assertThat(all.allowed()).isEqualTo(3);
        assertThat(all.records()).isEqualTo(200);
    }

    @Test
    void shouldAllowDoublesOnlyOfOldRecordsThatAFrozenProcessGoesOnCopyingOrAfterADeletion() {
        MirrorKind exact = mirror("exact");
        MirrorKind exactlyOnce = mirror("exactly-once");

        Incidents frozen = new Incidents(true, false, false, false, false);
        Incidents frozenAndDeleted = new Incidents(true, false, true, false, false);
        Incidents withoutCopy = new Incidents(false, false, false, true, false);
        Incidents withoutEnd = new Incidents(false, false, true, false, true);

        assertThat(Promise.of(exact, topic(3), frozen)).isEqualTo(Promise.ONLY_COMPLETE);
        assertThat(Promise.of(exact, topic(3), Incidents.NONE)).isEqualTo(Promise.EXACT);
        assertThat(Promise.of(exact, topic(0), frozen)).isEqualTo(Promise.EXACT);
        assertThat(Promise.of(exact, topic(0), frozenAndDeleted)).isEqualTo(Promise.AT_LEAST_ONCE);
        assertThat(Promise.of(exactlyOnce, topic(3), frozenAndDeleted)).isEqualTo(Promise.EXACT);
        assertThat(Promise.of(exactlyOnce, topic(0), withoutCopy)).isEqualTo(Promise.ONLY_COMPLETE);
        assertThat(Promise.of(exactlyOnce, topic(0), withoutEnd)).isEqualTo(Promise.ONLY_COMPLETE);
    }

    @Test
    void shouldAllowDoublesAfterTheMirrorsGroupWasSetBack() {
        Incidents setBack = new Incidents(false, true, false, false, false);

        assertThat(Promise.of(mirror("exact"), topic(0), setBack)).isEqualTo(Promise.AT_LEAST_ONCE);
        assertThat(Promise.of(mirror("exactly-once"), topic(0), setBack)).isEqualTo(Promise.AT_LEAST_ONCE);
    }

    @Test
    void shouldAllowDoublesWhereAnotherProgramWritesUnlessTheTargetKeepsTheProgress() {
        assertThat(Promise.of(mirror("exact"), topic(0, false, true), Incidents.NONE))
                .isEqualTo(Promise.AT_LEAST_ONCE);
        assertThat(Promise.of(mirror("exactly-once"), topic(0, false, true), Incidents.NONE))
                .isEqualTo(Promise.EXACT);
    }

    @Test
    void shouldNotJudgeTheOrderOfDoublesOfWhichTheTargetRemovesSome() {
        TopicKind compacted = topic(0, true, false);
        Incidents setBack = new Incidents(false, true, false, false, false);

        assertThat(Promise.of(mirror("exactly-once"), compacted, Incidents.NONE))
                .isEqualTo(Promise.EXACT);
        assertThat(Promise.of(mirror("exactly-once"), compacted, setBack)).isEqualTo(Promise.ONLY_COMPLETE);
        assertThat(Promise.of(mirror("exact"), compacted, Incidents.NONE)).isEqualTo(Promise.ONLY_COMPLETE);
    }

    @Test
    void shouldPromiseWhatThePageSays() throws Exception {
        List<String> rows;
        try (Stream<String> lines = Files.lines(Path.of("..", "docs", "mirror.md"))) {
            rows = lines.filter(line -> line.startsWith("|") && line.contains("othing lost"))
                    .toList();
        }

        assertThat(rows).hasSize(3);
        assertThat(rows.get(0))
                .startsWith("| `consumer`, or `--resume at-least-once`")
                .contains("First copies are in order");
        assertThat(rows.get(1)).contains("`--resume exact` (the default)", "nothing doubled, in order");
        assertThat(rows.get(2)).contains("`--resume exactly-once`", "nothing doubled, in order");
        assertThat(Stream.of("at-least-once", "exact", "exactly-once")
                        .map(resume -> Promise.of(mirror(resume), topic(0), Incidents.NONE)))
                .containsExactly(Promise.AT_LEAST_ONCE, Promise.EXACT, Promise.EXACT);
    }

    private static Judgement judged(Comparison comparison, Promise promise) {
        Judgement judgement = new Judgement();
        judgement.judge("topic", promise, comparison, comparison, comparison, 0);
        return judgement;
    }

    private static List<Rule> brokenIn(Judgement judgement) {
        return Stream.of(Rule.values())
                .filter(rule -> judgement.broken(rule) > 0)
                .toList();
    }

    private static MirrorKind mirror(String resume) {
        return new MirrorKind(2, 1, "auto", resume, 16, "", "classic", false, false, "stop");
    }

    private static TopicKind topic(int ageDays) {
        return topic(ageDays, false, false);
    }

    private static TopicKind topic(int ageDays, boolean isCompacted, boolean hasStranger) {
        return new TopicKind(
                "weather-0",
                1,
                CompressionType.NONE,
                true,
                100,
                0,
                25,
                16_384,
                ageDays,
                Timestamps.RISING,
                false,
                false,
                false,
                isCompacted,
                false,
                hasStranger,
                100);
    }

    private static Comparison comparison(long lost, long doubled, long reordered, long lastReordered, long unexpected) {
        return new Comparison(
                100, 100 - lost + doubled, lost, doubled, reordered, lastReordered, 0, unexpected, List.of());
    }
}
