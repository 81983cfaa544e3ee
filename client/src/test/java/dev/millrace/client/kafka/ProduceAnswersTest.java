package dev.millrace.client.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.io.BrokerLink.ProduceAnswer;
import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import dev.millrace.kafka.clients.ClientResponse;
import dev.millrace.kafka.common.message.ProduceRequestData;
import dev.millrace.kafka.common.message.ProduceResponseData;
import dev.millrace.kafka.common.message.ProduceResponseData.BatchIndexAndErrorMessage;
import dev.millrace.kafka.common.message.ProduceResponseData.NodeEndpoint;
import dev.millrace.kafka.common.message.ProduceResponseData.PartitionProduceResponse;
import dev.millrace.kafka.common.message.ProduceResponseData.TopicProduceResponse;
import dev.millrace.kafka.common.protocol.ApiKeys;
import dev.millrace.kafka.common.protocol.Errors;
import dev.millrace.kafka.common.requests.ProduceRequest;
import dev.millrace.kafka.common.requests.ProduceResponse;
import dev.millrace.kafka.common.requests.RequestHeader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownServerException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a produce request says, and what each of its batches is told, whatever the answer. */
class ProduceAnswersTest {
    private static final short VERSION = ApiKeys.PRODUCE.latestVersion();
    private static final Uuid T = new Uuid(1, 1);
    private static final Uuid U = new Uuid(2, 2);

    private final FinishedBatches batches = new FinishedBatches("t", "u");
    private final List<FinishedBatch> sent = List.of(batches.of("t", 2), batches.of("u", 0), batches.of("t", 0));
    private final ProduceExchange exchange = new ProduceExchange(
            sent, FinishedBatches.image(FinishedBatches.topic("t", T), FinishedBatches.topic("u", U)));
    private final List<ProduceAnswer> answers = new ArrayList<>();
    private final List<LeaderHint> hints = new ArrayList<>();
    private final List<Node> endpoints = new ArrayList<>();
    private int calls;

    @Test
    void shouldSayAcksTimeoutAndTransaction() {
        ProduceRequestData data =
                request((short) -1, protocol("transfers", false)).data();

        assertThat(data.acks()).isEqualTo((short) -1);
        assertThat(data.timeoutMs()).isEqualTo(4321);
        assertThat(data.transactionalId()).isEqualTo("transfers");
    }

    @Test
    void shouldSayNothingOfTransactionsWithoutOne() {
        ProduceRequestData data = request((short) 1, protocol(null, true)).data();

        assertThat(data.acks()).isEqualTo((short) 1);
        assertThat(data.transactionalId()).isNull();
    }

    @Test
    void shouldNameATopicOnceWithTheBytesOfEachOfItsPartitions() {
        ProduceRequestData data = request((short) -1, protocol(null, false)).data();

        assertThat(data.topicData()).extracting(topic -> topic.topicId()).containsExactly(T, U);
        assertThat(data.topicData().find("t", T).partitionData())
                .extracting(partition -> partition.index())
                .containsExactly(2, 0);
        assertThat(data.topicData())
                .flatExtracting(topic -> topic.partitionData())
                .extracting(partition -> partition.records().sizeInBytes())
                .containsExactly(
                        sent.get(0).size(), sent.get(2).size(), sent.get(1).size());
    }

    /** A broker takes a request of a newer version as one that adds its partitions to the transaction. */
    @Test
    void shouldUseNoVersionThatAddsPartitionsWhenTheyHaveBeenAddedBefore() {
        ProduceRequest.Builder explicit = exchange.request((short) -1, 1, protocol("transfers", true));
        ProduceRequest.Builder implicit = exchange.request((short) -1, 1, protocol("transfers", false));

        assertThat(explicit.latestAllowedVersion()).isEqualTo(ProduceRequest.LAST_STABLE_VERSION_BEFORE_TRANSACTION_V2);
        assertThat(implicit.latestAllowedVersion()).isEqualTo(VERSION);
    }

    @Test
    void shouldTellEachBatchItsOffsetAndTimeInWhateverOrderTheyAreAnswered() {
        answer(topic(U, accepted(0, 70, 700)), topic(T, accepted(0, 10, 100), accepted(2, 20, -1)));

        assertThat(answers)
                .containsExactly(
                        new ProduceAnswer(sent.get(0), null, 20, -1),
                        new ProduceAnswer(sent.get(1), null, 70, 700),
                        new ProduceAnswer(sent.get(2), null, 10, 100));
        assertThat(hints).isEmpty();
    }

    @Test
    void shouldTellEachBatchOfAnAnswerWithoutBodyThatItWasSent() {
        exchange.handleResponse(response(false, false, null, null, null), this::take);

        assertThat(answers)
                .containsExactlyElementsOf(sent.stream()
                        .map(batch -> new ProduceAnswer(batch, null, -1, -1))
                        .toList());
    }

    @Test
    void shouldTellEachBatchThatTheConnectionIsLost() {
        exchange.handleResponse(response(true, false, null, null, null), this::take);

        assertFailed(NetworkException.class, "node 1");
    }

    /** A request that timed out is also reported as disconnected. */
    @Test
    void shouldTellEachBatchThatTheRequestTimedOut() {
        exchange.handleResponse(response(true, true, null, null, null), this::take);

        assertFailed(TimeoutException.class, "request.timeout.ms");
    }

    @Test
    void shouldTellEachBatchThatTheLoginIsRefused() {
        exchange.handleResponse(
                response(true, false, null, new SaslAuthenticationException("who are you"), null), this::take);

        assertFailed(SaslAuthenticationException.class, "who are you");
    }

    @Test
    void shouldTellEachBatchThatTheBrokerIsTooOld() {
        exchange.handleResponse(
                response(false, false, new UnsupportedVersionException("too old"), null, null), this::take);

        assertFailed(UnsupportedVersionException.class, "too old");
    }

    @Test
    void shouldTellThatTheAnswerIsLostForTheBatchThatItLeavesOut() {
        answer(topic(T, accepted(2, 5, -1), accepted(1, 6, -1)), topic(U, accepted(0, 7, -1)));

        assertThat(answers).extracting(ProduceAnswer::baseOffset).containsExactly(5L, 7L, -1L);
        assertThat(answers.get(2).error())
                .isExactlyInstanceOf(NetworkException.class)
                .hasMessageContaining("t-0");
    }

    @Test
    void shouldTellThatTheAnswerIsLostForEachBatchWhenItIsEmpty() {
        answer();

        assertFailed(NetworkException.class, "does not mention");
    }

    @ParameterizedTest
    @EnumSource(value = Errors.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void shouldTellTheExceptionOfEveryError(Errors error) {
        answer(topic(T, refused(2, error.code(), null), accepted(0, 1, -1)), topic(U, accepted(0, 1, -1)));

        assertThat(answers.get(0).error()).hasSameClassAs(error.exception());
        assertThat(answers.get(0).baseOffset()).isEqualTo(-1);
        assertThat(answers.get(0).recordErrors()).isEmpty();
        assertThat(answers.subList(1, 3))
                .allSatisfy(answer -> assertThat(answer.error()).isNull());
    }

    @Test
    void shouldTakeACodeThatItDoesNotKnowAsAnErrorOfTheBroker() {
        answer(topic(T, refused(2, (short) 30_000, null), accepted(0, 1, -1)), topic(U, accepted(0, 1, -1)));

        assertThat(answers.get(0).error()).isExactlyInstanceOf(UnknownServerException.class);
    }

    @Test
    void shouldTellTheBrokersWords() {
        answer(
                topic(T, refused(2, Errors.NOT_ENOUGH_REPLICAS.code(), "two are away"), accepted(0, 1, -1)),
                topic(U, refused(0, Errors.NOT_ENOUGH_REPLICAS.code(), null)));

        assertThat(answers.get(0).error())
                .isExactlyInstanceOf(NotEnoughReplicasException.class)
                .hasMessage("two are away");
        assertThat(answers.get(1).error()).hasMessage(Errors.NOT_ENOUGH_REPLICAS.message());
    }

    @Test
    void shouldNameWhatMayNotBeWritten() {
        answer(
                topic(T, refused(2, Errors.CLUSTER_AUTHORIZATION_FAILED.code(), "no"), accepted(0, 1, -1)),
                topic(U, refused(0, Errors.TOPIC_AUTHORIZATION_FAILED.code(), "no")));

        assertThat(answers.get(0).error())
                .isExactlyInstanceOf(ClusterAuthorizationException.class)
                .hasMessageContaining("idempotent");
        assertThat(((TopicAuthorizationException) answers.get(1).error()).unauthorizedTopics())
                .containsExactly("u");
    }

    @Test
    void shouldGiveTheOnlyRecordThatIsRefusedTheClassOfTheBatchsError() {
        answer(topic(
                T,
                refused(2, Errors.INVALID_TIMESTAMP.code(), "of the batch", refusedRecord(4, "too early")),
                refused(0, Errors.INVALID_TIMESTAMP.code(), "of the batch", refusedRecord(0, null))));

        Map<Integer, ApiException> first = answers.get(0).recordErrors();
        assertThat(first).containsOnlyKeys(4);
        assertThat(first.get(4))
                .isExactlyInstanceOf(InvalidTimestampException.class)
                .hasMessage("too early");
        assertThat(answers.get(2).recordErrors().get(0)).hasMessage("of the batch");
        assertThat(answers.get(0).error()).hasMessage("of the batch");
    }

    @Test
    void shouldTellEachOfSeveralRefusedRecordsItsReason() {
        answer(topic(
                T,
                refused(
                        2,
                        Errors.INVALID_TIMESTAMP.code(),
                        null,
                        refusedRecord(1, "too early"),
                        refusedRecord(3, null))));

        Map<Integer, ApiException> refused = answers.get(0).recordErrors();
        assertThat(refused).containsOnlyKeys(1, 3);
        assertThat(refused.values())
                .allSatisfy(error -> assertThat(error).isExactlyInstanceOf(InvalidRecordException.class));
        assertThat(refused.get(1)).hasMessage("too early");
        assertThat(refused.get(3)).hasMessage(Errors.INVALID_TIMESTAMP.message());
    }

    @Test
    void shouldTellNewLeadersAndWhereTheyAre() {
        PartitionProduceResponse moved = refused(2, Errors.NOT_LEADER_OR_FOLLOWER.code(), null);
        moved.currentLeader().setLeaderId(0).setLeaderEpoch(9);
        ProduceResponseData data = data(topic(T, moved, accepted(0, 1, -1)));
        data.nodeEndpoints()
                .add(new NodeEndpoint()
                        .setNodeId(0)
                        .setHost("zero")
                        .setPort(9090)
                        .setRack("r"));

        exchange.handleResponse(response(false, false, null, null, new ProduceResponse(data)), this::take);

        assertThat(hints).containsExactly(new LeaderHint("t", T, 2, 0, 9));
        assertThat(endpoints).containsExactly(new Node(0, "zero", 9090, "r"));
    }

    /** The leader of another partition is no news of ours, and nobody can connect to some brokers. */
    @Test
    void shouldLeaveOutLeadersOfOtherPartitionsAndBrokersWithoutAnAddress() {
        PartitionProduceResponse other = refused(-3, Errors.NOT_LEADER_OR_FOLLOWER.code(), null);
        other.currentLeader().setLeaderId(0).setLeaderEpoch(9);
        ProduceResponseData data = data(topic(T, other));
        data.nodeEndpoints().add(new NodeEndpoint().setNodeId(0).setHost("zero").setPort(65_536));
        data.nodeEndpoints().add(new NodeEndpoint().setNodeId(1).setHost("").setPort(9090));
        data.nodeEndpoints().add(new NodeEndpoint().setNodeId(2).setHost("two").setPort(65_535));

        exchange.handleResponse(response(false, false, null, null, new ProduceResponse(data)), this::take);

        assertThat(hints).isEmpty();
        assertThat(endpoints).containsExactly(new Node(2, "two", 65_535));
    }

    private ProduceRequest request(short acks, TransactionProtocol protocol) {
        return exchange.request(acks, 4321, protocol).build(VERSION);
    }

    private static TransactionProtocol protocol(String transactionalIdOrNull, boolean explicit) {
        Map<String, Object> configs = new HashMap<>(Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                "localhost:1",
                ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG,
                ByteArraySerializer.class,
                ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG,
                ByteArraySerializer.class));
        configs.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, transactionalIdOrNull);
        TransactionProtocol protocol = new TransactionProtocol(new ProducerConfig(configs));
        protocol.setExplicit(explicit);
        return protocol;
    }

    private void answer(TopicProduceResponse... topics) {
        exchange.handleResponse(response(false, false, null, null, new ProduceResponse(data(topics))), this::take);
    }

    private void take(List<ProduceAnswer> told, List<LeaderHint> leaders, List<Node> nodes) {
        calls++;
        answers.addAll(told);
        hints.addAll(leaders);
        endpoints.addAll(nodes);
    }

    private void assertFailed(Class<? extends ApiException> expected, String mentioned) {
        assertThat(calls).isEqualTo(1);
        assertThat(answers).extracting(ProduceAnswer::batch).containsExactlyElementsOf(sent);
        assertThat(answers).allSatisfy(answer -> {
            assertThat(answer.error()).isExactlyInstanceOf(expected).hasMessageContaining(mentioned);
            assertThat(answer.baseOffset()).isEqualTo(-1);
            assertThat(answer.recordErrors()).isEmpty();
        });
    }

    private static ClientResponse response(
            boolean disconnected,
            boolean timedOut,
            UnsupportedVersionException mismatch,
            AuthenticationException refusal,
            ProduceResponse body) {
        RequestHeader header = new RequestHeader(ApiKeys.PRODUCE, VERSION, "client", 1);
        return new ClientResponse(header, null, "1", 0, 0, disconnected, timedOut, mismatch, refusal, body);
    }

    private static ProduceResponseData data(TopicProduceResponse... topics) {
        ProduceResponseData data = new ProduceResponseData();
        Arrays.stream(topics).forEach(data.responses()::add);
        return data;
    }

    private static TopicProduceResponse topic(Uuid id, PartitionProduceResponse... partitions) {
        return new TopicProduceResponse().setTopicId(id).setPartitionResponses(List.of(partitions));
    }

    private static PartitionProduceResponse accepted(int partition, long offset, long appendTime) {
        return new PartitionProduceResponse()
                .setIndex(partition)
                .setBaseOffset(offset)
                .setLogAppendTimeMs(appendTime);
    }

    private static PartitionProduceResponse refused(
            int partition, short code, String message, BatchIndexAndErrorMessage... records) {
        return new PartitionProduceResponse()
                .setIndex(partition)
                .setErrorCode(code)
                .setBaseOffset(99)
                .setErrorMessage(message)
                .setRecordErrors(List.of(records));
    }

    private static BatchIndexAndErrorMessage refusedRecord(int index, String messageOrNull) {
        return new BatchIndexAndErrorMessage().setBatchIndex(index).setBatchIndexErrorMessage(messageOrNull);
    }
}
