package dev.millrace.client.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.io.BrokerLink.ProduceAnswer;
import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import dev.millrace.kafka.clients.ClientResponse;
import dev.millrace.kafka.common.message.ProduceResponseData;
import dev.millrace.kafka.common.message.ProduceResponseData.LeaderIdAndEpoch;
import dev.millrace.kafka.common.message.ProduceResponseData.PartitionProduceResponse;
import dev.millrace.kafka.common.message.ProduceResponseData.TopicProduceResponse;
import dev.millrace.kafka.common.protocol.ApiKeys;
import dev.millrace.kafka.common.protocol.Errors;
import dev.millrace.kafka.common.requests.ProduceRequest;
import dev.millrace.kafka.common.requests.ProduceResponse;
import dev.millrace.kafka.common.requests.RequestHeader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

/** By what a request names its topics, and what an answer is about. */
class ProduceExchangeTest {
    private static final short ALL = -1;
    private static final short FIRST_BY_ID = 13;
    private static final Uuid T = new Uuid(1, 1);
    private static final Uuid U = new Uuid(2, 2);

    private final TransactionProtocol protocol = new TransactionProtocol(new ProducerConfig(Map.of(
            ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
            "localhost:1",
            ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG,
            ByteArraySerializer.class,
            ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG,
            ByteArraySerializer.class)));
    private final List<ProduceAnswer> answers = new ArrayList<>();
    private final List<LeaderHint> hints = new ArrayList<>();

    @Test
    void shouldTellOfWhichTopicANewLeaderIsNamed() {
        // given
        ProduceExchange exchange = exchange(T, U);

        // when
        answer(exchange, FIRST_BY_ID, accepted("", T), moved("", U));

        // then
        assertThat(hints).containsExactly(new LeaderHint("u", U, 0, 2, 7));
        assertThat(answers.get(0).error()).isNull();
        assertThat(answers.get(1).error()).isInstanceOf(NotLeaderOrFollowerException.class);
    }

    @Test
    void shouldTellOfWhichTopicANewLeaderIsNamedWhenTheAnswerNamesIt() {
        ProduceExchange exchange = exchange(T, U);

        answer(exchange, (short) (FIRST_BY_ID - 1), moved("t", Uuid.ZERO_UUID), accepted("u", Uuid.ZERO_UUID));

        assertThat(hints).containsExactly(new LeaderHint("t", T, 0, 2, 7));
        assertThat(answers.get(0).error()).isInstanceOf(NotLeaderOrFollowerException.class);
        assertThat(answers.get(1).error()).isNull();
    }

    @Test
    void shouldIgnoreWhatIsSaidOfATopicThatNothingWasSentTo() {
        ProduceExchange exchange = exchange(T, U);

        answer(exchange, FIRST_BY_ID, accepted("", T), moved("", new Uuid(3, 3)), accepted("", U));

        assertThat(hints).isEmpty();
        assertThat(answers)
                .hasSize(2)
                .allSatisfy(answer -> assertThat(answer.error()).isNull());
    }

    @Test
    void shouldSendByIdWhenTopicsHaveIds() {
        ProduceRequest.Builder request = exchange(T, U).request(ALL, 1000, protocol);

        assertThat(request.latestAllowedVersion()).isEqualTo(ApiKeys.PRODUCE.latestVersion());
        assertThat(request.build(FIRST_BY_ID).data().topicData())
                .extracting(topic -> topic.topicId())
                .containsExactly(T, U);
    }

    /** Two of them could not be told apart in a request by id. */
    @Test
    void shouldSendByNameWhenATopicHasNoId() {
        // given
        ProduceExchange exchange = exchange(Uuid.ZERO_UUID, Uuid.ZERO_UUID);

        // when
        ProduceRequest.Builder request = exchange.request(ALL, 1000, protocol);
        answer(exchange, request.latestAllowedVersion(), accepted("t", Uuid.ZERO_UUID), moved("u", Uuid.ZERO_UUID));

        // then
        assertThat(request.latestAllowedVersion()).isLessThan(FIRST_BY_ID);
        assertThat(request.build(request.latestAllowedVersion()).data().topicData())
                .extracting(topic -> topic.name())
                .containsExactly("t", "u");
        assertThat(answers.get(0).error()).isNull();
        assertThat(answers.get(1).error()).isInstanceOf(NotLeaderOrFollowerException.class);
        assertThat(hints).containsExactly(new LeaderHint("u", Uuid.ZERO_UUID, 0, 2, 7));
    }

    /** Of a batch for partition 0 of topic t, and one of topic u. */
    private static ProduceExchange exchange(Uuid idOfT, Uuid idOfU) {
        FinishedBatches batches = new FinishedBatches("t", "u");
        return new ProduceExchange(
                List.of(batches.of("t", 0), batches.of("u", 0)),
                FinishedBatches.image(FinishedBatches.topic("t", idOfT), FinishedBatches.topic("u", idOfU)));
    }

    private void answer(ProduceExchange exchange, short version, TopicProduceResponse... topics) {
        ProduceResponseData data = new ProduceResponseData();
        Arrays.stream(topics).forEach(data.responses()::add);
        ClientResponse response = new ClientResponse(
                new RequestHeader(ApiKeys.PRODUCE, version, "client", 1),
                null,
                "1",
                0,
                0,
                false,
                null,
                null,
                new ProduceResponse(data));
        exchange.handleResponse(response, (told, leaders, endpoints) -> {
            answers.addAll(told);
            hints.addAll(leaders);
        });
    }

    private static TopicProduceResponse accepted(String name, Uuid id) {
        return new TopicProduceResponse()
                .setName(name)
                .setTopicId(id)
                .setPartitionResponses(List.of(new PartitionProduceResponse().setIndex(0)));
    }

    private static TopicProduceResponse moved(String name, Uuid id) {
        PartitionProduceResponse refused = new PartitionProduceResponse()
                .setIndex(0)
                .setErrorCode(Errors.NOT_LEADER_OR_FOLLOWER.code())
                .setCurrentLeader(new LeaderIdAndEpoch().setLeaderId(2).setLeaderEpoch(7));
        return new TopicProduceResponse().setName(name).setTopicId(id).setPartitionResponses(List.of(refused));
    }
}
