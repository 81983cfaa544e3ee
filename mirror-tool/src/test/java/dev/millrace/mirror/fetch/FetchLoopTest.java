package dev.millrace.mirror.fetch;

import static dev.millrace.mirror.fetch.FetchFixture.BACKOFF_MS;
import static dev.millrace.mirror.fetch.FetchFixture.TOPIC_ID;
import static dev.millrace.mirror.fetch.FetchFixture.tp;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import java.util.List;
import java.util.OptionalInt;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.errors.InconsistentTopicIdException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownServerException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.junit.jupiter.api.Test;

/** Where partitions are fetched, and what becomes of each answer and error. */
class FetchLoopTest {
    private final FetchFixture fixture = new FetchFixture();
    private final ScriptedFetchLink link = fixture.link;

    @Test
    void shouldFetchEachPartitionFromItsLeaderInOneSessionPerBroker() {
        fixture.assign(40, 1, 2, 1);

        ScriptedFetchLink.Fetch one = link.takeFetch(1);
        ScriptedFetchLink.Fetch two = link.takeFetch(2);
        assertThat(one.sent()).containsExactly(tp(0), tp(2));
        assertThat(two.sent()).containsExactly(tp(1));
        assertThat(one.slot(tp(0)).sentOffset()).isEqualTo(40);
        assertThat(one.slot(tp(0)).sentEpoch()).isEqualTo(1);
        assertThat(one.call().maxWaitMs()).isEqualTo(500);
        assertThat(link.fetches).isEmpty();
    }

    @Test
    void shouldHandOutWholeBatchesAndGoOnAfterTheLastOne() {
        fixture.assign(40, 1);
        ScriptedFetchLink.Fetch fetch = link.takeFetch(1);

        link.answer(
                fetch,
                ScriptedFetchLink.bytes(
                        fetch.slot(tp(0)),
                        TestBatches.batch(38, 10, 1, 100),
                        TestBatches.batch(50, 10, 1, 100),
                        TestBatches.batch(60, 10, 1, 100).slice(0, 70)));
        fixture.settle();

        assertThat(fixture.fetched).hasSize(1);
        FetchedBatches batches = fixture.fetched.get(0);
        assertThat(batches.partition()).isEqualTo(tp(0));
        assertThat(batches.bytes().remaining()).isEqualTo(200);
        assertThat(batches.fetchOffset()).isEqualTo(40);
        assertThat(batches.highWatermark()).isEqualTo(1_000_000);
        assertThat(batches.lastStableOffset()).isEqualTo(900_000);
        assertThat(link.takeFetch(1).slot(tp(0)).sentOffset()).isEqualTo(60);
    }

    @Test
    void shouldNotHandOutWhatIsUnassignedWhileItsRequestIsOnItsWay() {
        fixture.assign(0, 1, 1);
        fixture.loop.unassign(tp(0));

        assertThat(fixture.deliver(1, 0, 5, 100)).isNull();
        ScriptedFetchLink.Fetch next = link.takeFetch(1);
        assertThat(next.forgotten()).containsExactly(tp(0));
        assertThat(next.sent()).isEmpty();
    }

    @Test
    void shouldNotHandOutWhatWasAskedForBeforeAPartitionWasAssignedElsewhere() {
        fixture.assign(0, 1);
        fixture.loop.assign(tp(0), 70, OptionalInt.empty(), Uuid.ZERO_UUID);

        assertThat(fixture.deliver(1, 0, 5, 100)).isNull();
        assertThat(link.takeFetch(1).slot(tp(0)).sentOffset()).isEqualTo(70);
    }

    @Test
    void shouldAskForMetadataAndWaitWhenABrokerDoesNotLeadAndNamesNoLeader() {
        fixture.assign(0, 1, 1);
        int before = link.metadataRequests;

        fixture.elapse(2_000); // the pause after the first metadata request
        link.describe("t", TOPIC_ID, new int[] {2, 1}, new int[] {2, 1});
        fixture.refuse(1, 0, Remedy.FIND_LEADER, new NotLeaderOrFollowerException());

        assertThat(link.metadataRequests).isEqualTo(before + 1);
        assertThat(link.hasFetch(2)).isFalse();
        assertThat(link.takeFetch(1).forgotten()).containsExactly(tp(0));
        fixture.elapse(BACKOFF_MS);
        assertThat(link.takeFetch(2).sent()).containsExactly(tp(0));
    }

    @Test
    void shouldGoToTheNewLeaderAtOnceWhenTheBrokerNamesIt() {
        fixture.assign(0, 1, 1);
        ScriptedFetchLink.Fetch fetch = link.takeFetch(1);

        link.answer(
                fetch,
                List.of(new LeaderHint("t", TOPIC_ID, 0, 3, 2)),
                ScriptedFetchLink.failed(fetch.slot(tp(0)), Remedy.FIND_LEADER, new NotLeaderOrFollowerException()));
        fixture.settle();

        ScriptedFetchLink.Fetch next = link.takeFetch(3);
        assertThat(next.sent()).containsExactly(tp(0));
        assertThat(next.slot(tp(0)).sentEpoch()).isEqualTo(2);
    }

    @Test
    void shouldAskTheSameBrokerAgainAfterLongerAndLongerPauses() {
        fixture.assign(0, 1);
        for (long pauseMs : new long[] {100, 200, 400}) {
            fixture.refuse(1, 0, Remedy.ASK_AGAIN, new UnknownServerException());
            fixture.elapse(pauseMs - 1);
            assertThat(link.hasFetch(1)).as("pause %d", pauseMs).isFalse();
            fixture.elapse(1);
        }
        fixture.deliver(1, 0, 5, 100);
        fixture.refuse(1, 0, Remedy.ASK_AGAIN, new UnknownServerException());
        fixture.elapse(100);
        assertThat(link.hasFetch(1)).as("success ends the row of failures").isTrue();
        assertThat(fixture.failures).isEmpty();
    }

    @Test
    void shouldStopAPartitionThatMayNotBeReadAndTellWhy() {
        fixture.assign(0, 1, 1);

        fixture.refuse(1, 0, Remedy.STOP, new TopicAuthorizationException("t"));
        fixture.elapse(60_000);

        assertThat(fixture.failures).hasSize(1);
        assertThat(fixture.failures.get(0).partition()).isEqualTo(tp(0));
        assertThat(fixture.failures.get(0).cause()).isInstanceOf(TopicAuthorizationException.class);
        assertThat(link.takeFetch(1).forgotten()).containsExactly(tp(0));
    }

    @Test
    void shouldTellOnceThatATopicIsGoneAndGoOnWhenItIsBack() {
        fixture.assign(0, 1);
        link.describe("t", new UnknownTopicOrPartitionException());
        fixture.elapse(2_000);
        fixture.refuse(1, 0, Remedy.TELL_AND_ASK_AGAIN, new UnknownTopicOrPartitionException());
        for (int i = 0; i < 10; i++) {
            fixture.elapse(1_000);
        }
        assertThat(fixture.failures).hasSize(1);
        assertThat(link.fetches).isEmpty();

        link.describe("t", TOPIC_ID, new int[] {1}, new int[] {1});
        fixture.elapse(1_000);
        assertThat(link.hasFetch(1)).isTrue();
    }

    @Test
    void shouldStopWhenTheTopicWasDeletedAndCreatedAgain() {
        fixture.assign(0, 1);
        link.describe("t", Uuid.randomUuid(), new int[] {1}, new int[] {1});
        fixture.elapse(2_000);
        fixture.refuse(1, 0, Remedy.FIND_LEADER, new NotLeaderOrFollowerException());
        fixture.elapse(1_000);

        assertThat(fixture.failures).hasSize(1);
        assertThat(fixture.failures.get(0).cause()).isInstanceOf(InconsistentTopicIdException.class);
        assertThat(link.fetches).isEmpty();
    }

    @Test
    void shouldWaitForMetadataOfTheTopicThatWasAssigned() {
        fixture.assign(0, 1);
        Uuid newId = new Uuid(3, 4);
        fixture.loop.assign(tp(0), 0, OptionalInt.empty(), newId); // metadata is older than that
        fixture.elapse(1_000);
        assertThat(fixture.failures).hasSize(1);
        assertThat(fixture.failures.get(0).cause()).isInstanceOf(InconsistentTopicIdException.class);

        link.describe("t", newId, new int[] {1}, new int[] {1});
        fixture.elapse(2_000);

        ScriptedFetchLink.Fetch ofOld = link.takeFetch(1);
        link.answer(ofOld);
        fixture.settle();
        assertThat(link.takeFetch(1).session().slot(tp(0), newId).sentOffset()).isZero();
    }

    @Test
    void shouldTellOnceOfBytesThatAreNoBatchesAndAskForThemAgain() {
        fixture.assign(0, 1);
        for (int i = 0; i < 2; i++) {
            ScriptedFetchLink.Fetch fetch = link.takeFetch(1);
            link.answer(
                    fetch,
                    ScriptedFetchLink.bytes(
                            fetch.session().slot(tp(0), TOPIC_ID),
                            TestBatches.batch(0, 1, 1, 80).put(16, (byte) 9)));
            fixture.settle();
            fixture.elapse(1_000);
        }
        assertThat(fixture.failures).hasSize(1);
        assertThat(fixture.failures.get(0).cause()).isInstanceOf(CorruptRecordException.class);
        assertThat(fixture.fetched).isEmpty();
        assertThat(link.takeFetch(1).session().slot(tp(0), TOPIC_ID).sentOffset())
                .isZero();
    }

    @Test
    void shouldBeginASessionAnewWhenItsRequestFails() {
        fixture.assign(0, 1, 1);
        fixture.deliver(1, 0, 5, 100);

        link.fail(link.takeFetch(1), new NetworkException("gone"));
        fixture.settle();

        ScriptedFetchLink.Fetch next = link.takeFetch(1);
        assertThat(next.call().round().isFull()).isTrue();
        assertThat(next.sent()).containsExactly(tp(0), tp(1));
        assertThat(next.slot(tp(0)).sentOffset()).isEqualTo(5);
        assertThat(fixture.failures).isEmpty();
    }

    @Test
    void shouldPauseABrokerThatRefusesWholeRequestsAndTellWhy() {
        fixture.assign(0, 1, 2);

        link.fail(link.takeFetch(1), new UnsupportedVersionException("too old"));
        fixture.settle();

        assertThat(link.hasFetch(1)).isFalse();
        assertThat(fixture.failures)
                .containsExactly(
                        new FetchFixture.Failure(null, fixture.failures.get(0).cause()));
        fixture.elapse(BACKOFF_MS);
        assertThat(link.hasFetch(1)).isTrue();
    }

    @Test
    void shouldAskABrokerAgainThatAnswersAWholeRequestWithAnUnknownError() {
        fixture.assign(0, 1);

        link.fail(link.takeFetch(1), new UnknownServerException("not foreseen"));
        fixture.elapse(BACKOFF_MS);

        assertThat(link.hasFetch(1)).isTrue();
        assertThat(fixture.failures).isEmpty();
    }

    @Test
    void shouldTakeTheLastStableOffsetForTheEndOfCommittedRecords() {
        fixture.assign(0, 1);
        assertThat(fixture.loop.end(tp(0))).isEmpty();

        fixture.deliver(1, 0, 5, 100);

        assertThat(fixture.loop.end(tp(0))).hasValue(900_000);
    }

    @Test
    void shouldTakeAnEndForCurrentOnlyWhileTheSourceAnswers() {
        fixture.assign(0, 1);
        assertThat(fixture.loop.isEndCurrent(tp(0)))
                .as("before the first answer")
                .isFalse();
        fixture.deliver(1, 0, 5, 100);
        fixture.elapse(9_000);
        link.answer(link.takeFetch(1)); // nothing has changed
        fixture.settle();
        fixture.elapse(9_000);
        assertThat(fixture.loop.isEndCurrent(tp(0))).isTrue();

        link.fail(link.takeFetch(1), new NetworkException("gone"));
        fixture.elapse(2_000);

        assertThat(fixture.loop.isEndCurrent(tp(0))).isFalse();
    }

    @Test
    void shouldTellThatTheLoginWasRefused() {
        fixture.assign(0, 1);
        AuthenticationException refusal = new SaslAuthenticationException("wrong password");

        link.disconnect(1, refusal);
        fixture.settle();

        assertThat(fixture.failures).containsExactly(new FetchFixture.Failure(null, refusal));
    }

    @Test
    void shouldWaitAsLongAsTheConnectionSaysWhenItIsThrottled() {
        link.notReady.add(1);
        fixture.assign(0, 1);
        link.waits.clear();

        fixture.round();

        assertThat(link.fetches).isEmpty();
        assertThat(link.waits).containsExactly(33L);
    }

    @Test
    void shouldFetchFromTheReplicaThatTheLeaderNamesUntilMetadataIsOld() {
        fixture.assign(0, 1);
        readFrom(2);
        assertThat(link.hasFetch(2)).isTrue();

        fixture.nowMs += 300_000;
        fixture.deliver(2, 0, 5, 100);

        assertThat(link.takeFetch(1).slot(tp(0)).sentOffset()).isEqualTo(5);
    }

    @Test
    void shouldGoBackToTheLeaderWhenTheReplicaFailsOrDoesNotHaveTheOffset() {
        fixture.assign(0, 1);
        readFrom(2);

        fixture.refuse(2, 0, Remedy.RESET_OFFSET, new org.apache.kafka.common.errors.OffsetOutOfRangeException("no"));
        assertThat(fixture.resets).isEmpty();
        readFrom(2);
        link.fail(link.takeFetch(2), new NetworkException("gone"));
        fixture.settle();

        assertThat(link.hasFetch(1)).isTrue();
        assertThat(link.hasFetch(2)).isFalse();
    }

    @Test
    void shouldReadFromTheLeaderOnlyForAWhileWhenTheFollowerThatItNamesCannotBeConnectedTo() {
        fixture.assign(0, 1);
        link.notReady.add(2);
        readFrom(2);
        assertThat(link.hasFetch(1)).isFalse();

        link.disconnect(2, null);
        fixture.settle();

        ScriptedFetchLink.Fetch ofLeader = link.takeFetch(1);
        assertThat(ofLeader.call().leadersOnly()).isTrue();
        fixture.nowMs += 300_000;
        link.answer(ofLeader);
        fixture.settle();
        assertThat(link.takeFetch(1).call().leadersOnly()).isFalse();
    }

    private void readFrom(int replica) {
        ScriptedFetchLink.Fetch fetch = link.takeFetch(1);
        link.answer(fetch, ScriptedFetchLink.readFrom(fetch.session().slot(tp(0), TOPIC_ID), replica));
        fixture.settle();
    }
}
