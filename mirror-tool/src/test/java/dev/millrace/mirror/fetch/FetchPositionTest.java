package dev.millrace.mirror.fetch;

import static dev.millrace.mirror.fetch.FetchFixture.BACKOFF_MS;
import static dev.millrace.mirror.fetch.FetchFixture.MB;
import static dev.millrace.mirror.fetch.FetchFixture.TOPIC_ID;
import static dev.millrace.mirror.fetch.FetchFixture.tp;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalInt;
import org.apache.kafka.clients.consumer.LogTruncationException;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.FencedLeaderEpochException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.junit.jupiter.api.Test;

/** Positions outside the log, and logs that were truncated. */
class FetchPositionTest {
    private FetchFixture fixture = new FetchFixture();
    private ScriptedFetchLink link = fixture.link;

    @Test
    void shouldGoOnAtTheFirstRecordWhenTheOffsetIsBeforeIt() {
        fixture.assign(40, 1);
        refuseOffset();

        ScriptedFetchLink.Ask ask = link.takeAsk();
        assertThat(ask.queries()).containsExactly(new OffsetQuery(tp(0), 1, ResetPolicy.EARLIEST));
        answer(ask, 60, -1);

        assertThat(link.asks).isEmpty();
        assertThat(fixture.resets).hasSize(1);
        assertThat(fixture.resets.get(0)).startsWith("t-0 40 60 ").contains("begins later");
        assertThat(link.takeFetch(1).slot(tp(0)).sentOffset()).isEqualTo(60);
    }

    @Test
    void shouldGoOnWhereThePolicySaysWhenTheOffsetIsAfterTheLogAndTellIt() {
        fixture.assign(40, 1);
        refuseOffset();
        answer(link.takeAsk(), 10, -1);

        ScriptedFetchLink.Ask ask = link.takeAsk();
        assertThat(ask.isEpochEnds()).isFalse();
        assertThat(ask.queries()).containsExactly(new OffsetQuery(tp(0), 1, ResetPolicy.LATEST));
        answer(ask, 25, -1);

        assertThat(fixture.resets).hasSize(1);
        assertThat(fixture.resets.get(0)).startsWith("t-0 40 25 ").contains("latest");
        assertThat(link.takeFetch(1).slot(tp(0)).sentOffset()).isEqualTo(25);
    }

    @Test
    void shouldStopWhenTheOffsetIsOutOfRangeAndThereIsNoPolicy() {
        use("none");
        fixture.assign(40, 1);
        refuseOffset();

        assertThat(link.asks).isEmpty();
        assertThat(fixture.failures).hasSize(1);
        assertThat(fixture.failures.get(0).cause()).isInstanceOf(OffsetOutOfRangeException.class);
        assertThat(fixture.failures.get(0).cause()).hasMessageContaining("t-0").hasMessageContaining("40");
    }

    @Test
    void shouldGoOnAtTheEndWhenNoRecordIsAsYoungAsThePolicySays() {
        use("by_duration:PT1H");
        fixture.assign(40, 1);
        refuseOffset();

        answer(link.takeAsk(), 10, -1);
        ScriptedFetchLink.Ask first = link.takeAsk();
        assertThat(first.queries().get(0).subject()).isPositive();
        answer(first, -1, -1);
        ScriptedFetchLink.Ask second = link.takeAsk();
        assertThat(second.queries().get(0).subject()).isEqualTo(ResetPolicy.LATEST);
        answer(second, 99, -1);

        assertThat(link.takeFetch(1).slot(tp(0)).sentOffset()).isEqualTo(99);
    }

    @Test
    void shouldAskAgainWhenTheQuestionGetsNoAnswerOrAnError() {
        fixture.assign(40, 1);
        refuseOffset();
        link.takeAsk().handler().onFailure(new NetworkException("gone"));
        fixture.settle();
        assertThat(link.asks).isEmpty();
        fixture.elapse(2 * BACKOFF_MS);
        refuse(link.takeAsk(), Remedy.FIND_LEADER);
        fixture.elapse(4 * BACKOFF_MS);
        refuse(link.takeAsk(), Remedy.ASK_AGAIN);
        fixture.elapse(8 * BACKOFF_MS);
        answer(link.takeAsk(), 45, -1);

        assertThat(fixture.resets).hasSize(1);
        assertThat(link.hasFetch(1)).isTrue();
    }

    @Test
    void shouldStopWhenTheQuestionIsNotAllowed() {
        fixture.assign(40, 1);
        refuseOffset();
        ScriptedFetchLink.Ask ask = link.takeAsk();

        ask.handler()
                .onAnswers(List.of(new OffsetAnswer(
                        tp(0),
                        new PartitionAnswer.Outcome(Remedy.STOP, new TopicAuthorizationException("t")),
                        -1,
                        -1)));
        fixture.elapse(10_000);

        assertThat(fixture.failures).hasSize(1);
        assertThat(link.asks).isEmpty();
        assertThat(link.fetches).isEmpty();
    }

    @Test
    void shouldNotMoveAPartitionThatIsUnassignedWhenTheAnswerComes() {
        fixture.assign(40, 1);
        refuseOffset();
        ScriptedFetchLink.Ask ask = link.takeAsk();
        fixture.loop.assign(tp(0), 60, OptionalInt.empty(), Uuid.ZERO_UUID);

        answer(ask, 25, -1);

        assertThat(fixture.resets).isEmpty();
        assertThat(link.takeFetch(1).slot(tp(0)).sentOffset()).isEqualTo(60);
    }

    @Test
    void shouldAskTheLeaderFirstWhenTheStartHasALeaderEpoch() {
        link.describe("t", TOPIC_ID, new int[] {1}, new int[] {7});
        fixture.loop.assign(tp(0), 40, OptionalInt.of(5), Uuid.ZERO_UUID);
        fixture.settle();

        assertThat(link.fetches).isEmpty();
        ScriptedFetchLink.Ask ask = link.takeAsk();
        assertThat(ask.isEpochEnds()).isTrue();
        assertThat(ask.queries()).containsExactly(new OffsetQuery(tp(0), 7, 5));
        answer(ask, 40, 5);

        assertThat(link.takeFetch(1).slot(tp(0)).sentOffset()).isEqualTo(40);
        assertThat(fixture.resets).isEmpty();
    }

    @Test
    void shouldGoBackToWhereTheLogWasTruncatedAndTellIt() {
        startAfterChangeOfLeader();
        answer(link.takeAsk(), 30, 4);
        assertThat(fixture.resets).hasSize(1);
        assertThat(fixture.resets.get(0)).startsWith("t-0 40 30 ").contains("truncated");

        ScriptedFetchLink.Ask again = link.takeAsk();
        assertThat(again.queries()).containsExactly(new OffsetQuery(tp(0), 7, 4));
        answer(again, 30, 4);

        assertThat(link.takeFetch(1).slot(tp(0)).sentOffset()).isEqualTo(30);
        assertThat(fixture.resets).hasSize(1);
    }

    @Test
    void shouldFollowThePolicyWhenTheLeaderDoesNotKnowTheEpoch() {
        startAfterChangeOfLeader();
        answer(link.takeAsk(), -1, -1);

        ScriptedFetchLink.Ask ask = link.takeAsk();
        assertThat(ask.isEpochEnds()).isFalse();
        answer(ask, 0, -1);
        answer(link.takeAsk(), 12, -1);
        assertThat(link.takeFetch(1).slot(tp(0)).sentOffset()).isEqualTo(12);
    }

    @Test
    void shouldStopAtATruncationWhenThereIsNoPolicy() {
        use("none");
        startAfterChangeOfLeader();
        answer(link.takeAsk(), 30, 4);

        assertThat(fixture.failures).hasSize(1);
        assertThat(fixture.failures.get(0).cause()).isInstanceOf(LogTruncationException.class);
        assertThat(link.fetches).isEmpty();
    }

    @Test
    void shouldFetchWithoutAskingWhenTheBrokerIsTooOldToTell() {
        startAfterChangeOfLeader();
        link.takeAsk().handler().onFailure(new UnsupportedVersionException("before 2.3"));
        fixture.settle();

        assertThat(link.takeFetch(1).slot(tp(0)).sentOffset()).isEqualTo(40);
    }

    @Test
    void shouldAskTheNewLeaderBeforeFetchingFromItAndNotHandOutWhatTheOldOneSends() {
        fixture.assign(0, 1);
        fixture.deliver(1, 0, 10, 100);
        fixture.elapse(2_000);
        ScriptedFetchLink.Fetch toOldLeader = link.takeFetch(1);
        link.describe("t", TOPIC_ID, new int[] {2}, new int[] {3});
        link.disconnect(1, null);
        fixture.settle();

        assertThat(link.fetches).isEmpty();
        link.answer(
                toOldLeader,
                ScriptedFetchLink.bytes(
                        toOldLeader.session().slot(tp(0), TOPIC_ID), TestBatches.batch(10, 10, 1, 100)));
        fixture.settle();
        assertThat(fixture.fetched).as("the log may be truncated there").hasSize(1);
        answer(link.takeAsk(), 10, 1);

        ScriptedFetchLink.Fetch fetch = link.takeFetch(2);
        assertThat(fetch.slot(tp(0)).sentOffset()).isEqualTo(10);
        assertThat(fetch.slot(tp(0)).sentEpoch()).isEqualTo(3);
    }

    private void use(String policy) {
        fixture = new FetchFixture(policy, 64L * MB, 3);
        link = fixture.link;
    }

    private void startAfterChangeOfLeader() {
        link.describe("t", TOPIC_ID, new int[] {1}, new int[] {7});
        fixture.loop.assign(tp(0), 40, OptionalInt.of(5), Uuid.ZERO_UUID);
        fixture.settle();
    }

    private void refuseOffset() {
        fixture.refuse(1, 0, Remedy.RESET_OFFSET, new org.apache.kafka.common.errors.OffsetOutOfRangeException("no"));
    }

    private void answer(ScriptedFetchLink.Ask ask, long offset, int epoch) {
        ask.handler().onAnswers(List.of(new OffsetAnswer(tp(0), PartitionAnswer.Outcome.OK, offset, epoch)));
        fixture.settle();
    }

    private void refuse(ScriptedFetchLink.Ask ask, Remedy remedy) {
        PartitionAnswer.Outcome outcome = new PartitionAnswer.Outcome(remedy, new FencedLeaderEpochException("fenced"));
        ask.handler().onAnswers(List.of(new OffsetAnswer(tp(0), outcome, -1, -1)));
        fixture.settle();
    }
}
