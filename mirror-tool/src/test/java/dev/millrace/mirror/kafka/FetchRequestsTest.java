package dev.millrace.mirror.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.kafka.common.message.FetchRequestData;
import dev.millrace.kafka.common.message.FetchResponseData;
import dev.millrace.kafka.common.protocol.ApiKeys;
import dev.millrace.kafka.common.protocol.Errors;
import dev.millrace.kafka.common.requests.AbstractRequest;
import dev.millrace.kafka.common.requests.FetchRequest;
import dev.millrace.mirror.fetch.FetchAnswer;
import dev.millrace.mirror.fetch.FetchCall;
import dev.millrace.mirror.fetch.FetchSession;
import dev.millrace.mirror.fetch.FetchSlot;
import dev.millrace.mirror.fetch.PartitionAnswer;
import dev.millrace.mirror.fetch.Remedy;
import java.util.List;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FetchRequestsTest {
    private static final Uuid ID = Uuid.randomUuid();

    private final FetchRequests requests = new FetchRequests(1000, IsolationLevel.READ_COMMITTED, "rack-a");
    private final FetchSession session = new FetchSession();

    @Test
    void shouldSayWhatTheSettingsAndTheSessionSay() {
        want("a", 0, 10);
        FetchSlot b = want("a", 1, 20);
        want("b", 0, 30);
        build();
        session.onAnswer(9, 0);
        want("a", 0, 11);
        want("a", 2, 40);
        session.forget(b);

        FetchRequestData data = build().data();

        assertThat(data.sessionId()).isEqualTo(9);
        assertThat(data.sessionEpoch()).isEqualTo(1);
        assertThat(data.rackId()).isEqualTo("rack-a");
        assertThat(data.isolationLevel()).isEqualTo(IsolationLevel.READ_COMMITTED.id());
        assertThat(data.maxWaitMs()).isEqualTo(500);
        assertThat(data.minBytes()).isEqualTo(2);
        assertThat(data.maxBytes()).isEqualTo(3000);
        assertThat(data.topics()).hasSize(1);
        assertThat(data.topics().get(0).partitions())
                .extracting(FetchRequestData.FetchPartition::partition)
                .containsExactly(0, 2);
        FetchRequestData.FetchPartition first =
                data.topics().get(0).partitions().get(0);
        assertThat(first.fetchOffset()).isEqualTo(11);
        assertThat(first.currentLeaderEpoch()).isEqualTo(4);
        assertThat(first.partitionMaxBytes()).isEqualTo(1000);
        assertThat(data.forgottenTopicsData()).hasSize(1);
        assertThat(data.forgottenTopicsData().get(0).partitions()).containsExactly(1);
    }

    @Test
    void shouldNotSayWhereTheClientIsWhenOnlyLeadersAreWanted() {
        want("a", 0, 10);

        FetchRequest request = requests.request(new FetchCall(new Node(1, "b", 1), session.next(), 500, 2, 3000, true))
                .build((short) 12);

        assertThat(request.data().rackId()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(shorts = {4, 7, 10, 12, 13, 15, 18})
    void shouldSerializeForEveryVersionOfABroker(short version) {
        want("a", 0, 10);
        FetchRequest request = requests.request(call()).build(version);

        FetchRequest parsed = FetchRequest.parse(request.serialize(), version);

        assertThat(parsed.replicaId()).isEqualTo(FetchRequest.CONSUMER_REPLICA_ID);
        assertThat(parsed.data().topics().get(0).partitions().get(0).fetchOffset())
                .isEqualTo(10);
    }

    @Test
    void shouldSendNamesWhenATopicHasNoId() {
        session.want(session.slot(new TopicPartition("old", 0), Uuid.ZERO_UUID), 0, -1);
        assertThat(requests.request(call()).latestAllowedVersion()).isEqualTo((short) 12);
    }

    @Test
    void shouldFindTheSlotsOfAResponseByIdOrNameAndLeaveOutThoseThatAreGone() {
        FetchSlot a = want("a", 1, 10);
        build();
        FetchResponseData response = new FetchResponseData().setSessionId(9);
        response.responses()
                .add(new FetchResponseData.FetchableTopicResponse()
                        .setTopicId(a.topicId())
                        .setPartitions(List.of(
                                new FetchResponseData.PartitionData().setPartitionIndex(0),
                                new FetchResponseData.PartitionData()
                                        .setPartitionIndex(1)
                                        .setErrorCode(Errors.NOT_LEADER_OR_FOLLOWER.code())
                                        .setCurrentLeader(new FetchResponseData.LeaderIdAndEpoch()
                                                .setLeaderId(3)
                                                .setLeaderEpoch(8)),
                                new FetchResponseData.PartitionData().setPartitionIndex(700))));

        FetchAnswer answer = FetchResponses.toAnswer(response, session, 5);

        assertThat(answer.sessionId()).isEqualTo(9);
        assertThat(answer.partitions()).hasSize(1);
        PartitionAnswer partition = answer.partitions().get(0);
        assertThat(partition.slot()).isSameAs(a);
        assertThat(partition.outcome().remedy()).isEqualTo(Remedy.FIND_LEADER);
        assertThat(answer.leaders()).hasSize(1);
        assertThat(answer.leaders().get(0).leader()).isEqualTo(3);
        assertThat(answer.leaders().get(0).leaderEpoch()).isEqualTo(8);
    }

    private FetchSlot want(String topic, int partition, long offset) {
        FetchSlot slot = session.slot(
                new TopicPartition(topic, partition), new Uuid(ID.getMostSignificantBits(), topic.hashCode()));
        session.want(slot, offset, 4);
        return slot;
    }

    private FetchCall call() {
        return new FetchCall(new Node(1, "b", 1), session.next(), 500, 2, 3000, false);
    }

    private FetchRequest build() {
        AbstractRequest.Builder<FetchRequest> builder = requests.request(call());
        return builder.build(ApiKeys.FETCH.latestVersion());
    }
}
