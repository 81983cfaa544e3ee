package dev.millrace.mirror.fetch;

import static dev.millrace.mirror.fetch.FetchFixture.MB;
import static dev.millrace.mirror.fetch.FetchFixture.TOPIC_ID;
import static dev.millrace.mirror.fetch.FetchFixture.tp;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which partitions are asked for how often: full, slow and cold ones. */
class FetchPaceTest {
    private static final int COLD_CONNECTION = Integer.MAX_VALUE - 1;

    private final FetchFixture fixture = new FetchFixture("latest", 8L * MB, 3);
    private final ScriptedFetchLink link = fixture.link;

    @Test
    void shouldForgetAPartitionThatKeepsTooMuchAndFetchTheOthersOn() {
        fixture.assign(0, 1, 1);
        FetchedBatches first = fixture.deliver(1, 0, 10, MB);
        FetchedBatches second = fixture.deliver(1, 0, 10, MB);

        ScriptedFetchLink.Fetch next = link.takeFetch(1);
        assertThat(next.forgotten()).containsExactly(tp(0));
        link.answer(
                next, ScriptedFetchLink.bytes(next.session().slot(tp(1), TOPIC_ID), TestBatches.batch(0, 10, 1, 1000)));
        fixture.settle();
        assertThat(fixture.fetched.get(2).partition()).isEqualTo(tp(1));

        first.release();
        second.release();
        second.release();
        fixture.round();
        ScriptedFetchLink.Fetch meanwhile = link.takeFetch(1);
        link.answer(meanwhile);
        fixture.settle();
        ScriptedFetchLink.Fetch resumed = link.takeFetch(1);
        assertThat(resumed.slot(tp(0)).sentOffset()).isEqualTo(20);
        assertThat(link.wakeups).isPositive();
    }

    @Test
    void shouldLetTheBrokerWaitOnlyShortlyWhileAFullPartitionMayBeAskedForAgain() {
        fixture.assign(0, 1, 1);
        fixture.deliver(1, 0, 10, 3 * MB);

        List<Integer> waits = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            ScriptedFetchLink.Fetch fetch = link.takeFetch(1);
            waits.add(fetch.call().maxWaitMs());
            link.answer(fetch);
            fixture.settle();
        }

        assertThat(waits).containsExactly(4, 8, 16, 32, 64, 128, 256, 500, 500);
    }

    @Test
    void shouldSendNoRequestWithoutRoomForItsAnswerAndSendItWhenThereIs() {
        fixture.assign(0, 1, 2);
        ScriptedFetchLink.Fetch other = link.takeFetch(2);
        assertThat(other.call().maxBytes())
                .as("an eighth: two brokers, two requests each")
                .isEqualTo(MB);
        FetchedBatches huge = fixture.deliver(1, 0, 10, 8 * MB);
        assertThat(link.fetches).isEmpty();
        link.answer(other);
        fixture.settle();
        assertThat(link.fetches).isEmpty();

        huge.release();
        fixture.settle();

        assertThat(link.wakeups).isPositive();
        assertThat(link.hasFetch(1)).isTrue();
        assertThat(link.hasFetch(2)).isTrue();
    }

    @Test
    void shouldGiveABatchItsOwnMemoryWhenMuchOfTheResponsesIsKeptForNothing() {
        fixture.assign(0, 1, 1);
        ScriptedFetchLink.Fetch fetch = link.takeFetch(1);
        link.answer(
                fetch,
                ScriptedFetchLink.bytes(fetch.slot(tp(0)), TestBatches.batch(0, 10, 1, 4 * MB)),
                ScriptedFetchLink.bytes(fetch.slot(tp(1)), TestBatches.batch(0, 10, 1, 100)));
        fixture.settle();
        assertThat(fixture.fetched.get(1).bytes().array())
                .as("part of the response")
                .hasSize(100);
        fixture.fetched.get(0).release();
        fixture.settle();

        ScriptedFetchLink.Fetch next = link.takeFetch(1);
        java.nio.ByteBuffer batch = TestBatches.batch(10, 10, 1, 100);
        link.answer(next, ScriptedFetchLink.bytes(next.session().slot(tp(1), TOPIC_ID), batch));
        fixture.settle();

        FetchedBatches copied = fixture.fetched.get(2);
        assertThat(copied.bytes()).isEqualTo(batch);
        fixture.fetched.get(1).release();
        copied.release();
    }

    @Test
    void shouldMovePartitionsThatGetNothingToASessionOfTheirOwnAndBackWhenSomethingComes() {
        fixture.assign(0, 1, 1, 1, 1);
        fixture.nowMs += 9_000;
        fixture.deliver(1, 0, 10, 100);
        fixture.elapse(5_000);

        ScriptedFetchLink.Fetch cold = link.takeFetch(COLD_CONNECTION);
        assertThat(cold.sent()).containsExactlyInAnyOrder(tp(1), tp(2), tp(3));
        assertThat(cold.call().maxWaitMs()).isEqualTo(5_000);
        link.answer(link.takeFetch(1));
        fixture.settle();
        assertThat(link.takeFetch(1).forgotten()).containsExactlyInAnyOrder(tp(1), tp(2), tp(3));

        link.answer(cold, ScriptedFetchLink.bytes(cold.slot(tp(2)), TestBatches.batch(0, 5, 1, 100)));
        fixture.settle();
        assertThat(fixture.fetched.get(1).partition()).isEqualTo(tp(2));
        assertThat(link.takeFetch(COLD_CONNECTION).forgotten()).containsExactly(tp(2));
    }

    @Test
    void shouldSoonMovePartitionsThatHaveNothingFromTheStart() {
        fixture.assign(0, 1, 1, 1, 1);
        ScriptedFetchLink.Fetch hot = link.takeFetch(1);
        link.answer(
                hot,
                ScriptedFetchLink.bytes(hot.slot(tp(0)), TestBatches.batch(0, 5, 1, 100)),
                ScriptedFetchLink.nothing(hot.slot(tp(1)), 0),
                ScriptedFetchLink.nothing(hot.slot(tp(2)), 0),
                ScriptedFetchLink.nothing(hot.slot(tp(3)), 7));

        fixture.elapse(1_000);
        assertThat(link.hasFetch(COLD_CONNECTION)).isFalse(); // two of them are too few

        link.answer(link.takeFetch(1), ScriptedFetchLink.nothing(hot.slot(tp(3)), 0));
        fixture.settle();
        fixture.elapse(5_000);
        assertThat(link.takeFetch(COLD_CONNECTION).sent()).containsExactlyInAnyOrder(tp(1), tp(2), tp(3));
    }

    @Test
    void shouldNotHandOutTwiceWhatBothSessionsBring() {
        fixture.assign(0, 1, 1, 1);
        ScriptedFetchLink.Fetch hot = link.takeFetch(1);
        fixture.elapse(10_000);
        ScriptedFetchLink.Fetch cold = link.takeFetch(COLD_CONNECTION);

        link.answer(hot, ScriptedFetchLink.bytes(hot.slot(tp(0)), TestBatches.batch(0, 5, 1, 100)));
        link.answer(cold, ScriptedFetchLink.bytes(cold.slot(tp(0)), TestBatches.batch(0, 5, 1, 100)));
        fixture.settle();

        assertThat(fixture.fetched).hasSize(1);
    }

    @Test
    void shouldKeepFewIdlePartitionsWhereTheyAre() {
        fixture.assign(0, 1, 1);
        fixture.elapse(60_000);
        assertThat(link.hasFetch(COLD_CONNECTION)).isFalse();
    }

    @Test
    void shouldKeepAPartitionInTheHotSessionUntilTheColdOneCanAskForIt() {
        link.notReady.add(COLD_CONNECTION);
        fixture.assign(0, 1, 1, 1);
        fixture.elapse(10_000);

        assertThat(link.fetches).hasSize(1);
        assertThat(fixture.deliver(1, 0, 5, 100)).isNotNull();
    }

    @Test
    void shouldFetchNothingOfAPartitionThatTheSinkHoldsAndGoOnWhereItWas() {
        fixture.assign(0, 1, 1);
        FetchedBatches first = fixture.deliver(1, 0, 10, 1000);
        ScriptedFetchLink.Fetch before = link.takeFetch(1);

        fixture.maxAhead.put(tp(0), 0);
        fixture.loop.placeAll();
        first.release();
        link.answer(
                before,
                ScriptedFetchLink.bytes(before.session().slot(tp(0), TOPIC_ID), TestBatches.batch(10, 5, 1, 1000)));
        fixture.settle();
        assertThat(fixture.fetched)
                .as("an answer that was on its way is not taken")
                .hasSize(1);
        ScriptedFetchLink.Fetch meanwhile = link.takeFetch(1);
        assertThat(meanwhile.forgotten()).containsExactly(tp(0));
        assertThat(meanwhile.call().maxWaitMs()).as("nobody waits for it").isEqualTo(500);
        link.answer(meanwhile);
        fixture.settle();
        ScriptedFetchLink.Fetch later = link.takeFetch(1);
        assertThat(later.call().round().send()).isEmpty();

        fixture.maxAhead.clear();
        fixture.loop.placeAll();
        link.answer(later);
        fixture.settle();
        assertThat(link.takeFetch(1).slot(tp(0)).sentOffset()).isEqualTo(10);
    }

    @Test
    void shouldFetchNothingOfAPartitionThatIsAssignedWhileTheSinkHoldsIt() {
        fixture.maxAhead.put(tp(0), 0);
        fixture.assign(0, 1, 1);

        ScriptedFetchLink.Fetch only = link.takeFetch(1);
        assertThat(only.call().round().send()).extracting(FetchSlot::partition).containsExactly(tp(1));
        fixture.loop.unassign(tp(0));
        link.answer(only);
        fixture.settle();
        assertThat(link.takeFetch(1).call().maxWaitMs()).isEqualTo(500);
    }

    @Test
    void shouldAskForNoMoreThanTheSinkLimitsAndOnlyWhenThatBeforeIsReleased() {
        fixture.maxAhead.put(tp(0), 20_000);
        fixture.assign(0, 1, 1);
        ScriptedFetchLink.Fetch first = link.takeFetch(1);
        assertThat(first.slot(tp(0)).sentMaxBytes()).isEqualTo(20_000);
        assertThat(first.slot(tp(1)).sentMaxBytes()).isEqualTo(FetchSink.UNLIMITED);
        link.answer(
                first, ScriptedFetchLink.bytes(first.session().slot(tp(0), TOPIC_ID), TestBatches.batch(0, 5, 1, 100)));
        fixture.settle();
        ScriptedFetchLink.Fetch second = link.takeFetch(1);
        assertThat(second.forgotten()).containsExactly(tp(0));

        fixture.maxAhead.clear();
        fixture.fetched.get(0).release();
        link.answer(second);
        fixture.settle();
        assertThat(link.takeFetch(1).slot(tp(0)).sentMaxBytes()).isEqualTo(FetchSink.UNLIMITED);
    }

    @Test
    void shouldLeaveMemoryForOthersHoweverManyPartitionsAreLimited() {
        fixture.maxAhead.put(tp(0), 20_000);
        fixture.maxAhead.put(tp(1), 20_000);
        fixture.maxAhead.put(tp(2), 20_000);
        fixture.assign(0, 1, 1, 1, 1);
        FetchedBatches first = fixture.deliver(1, 0, 1, 3 * MB);
        FetchedBatches second = fixture.deliver(1, 1, 1, MB);

        ScriptedFetchLink.Fetch full = link.takeFetch(1);
        assertThat(full.forgotten()).contains(tp(2)).doesNotContain(tp(3));
        link.answer(full);
        fixture.settle();
        second.release();
        fixture.settle();
        ScriptedFetchLink.Fetch still = link.takeFetch(1);
        assertThat(still.call().round().send()).isEmpty();
        first.release();
        link.answer(still);
        fixture.settle();
        assertThat(link.takeFetch(1).call().round().send())
                .extracting(FetchSlot::partition)
                .containsExactlyInAnyOrder(tp(0), tp(1), tp(2));
    }
}
