package dev.millrace.client.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.millrace.client.io.ProducerId;
import dev.millrace.client.io.TransactionLink;
import dev.millrace.client.io.TransactionLink.Handler;
import java.io.EOFException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.ConcurrentTransactionsException;
import org.apache.kafka.common.errors.CoordinatorNotAvailableException;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownServerException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.message.AddOffsetsToTxnRequestData;
import org.apache.kafka.common.message.AddOffsetsToTxnResponseData;
import org.apache.kafka.common.message.AddPartitionsToTxnRequestData;
import org.apache.kafka.common.message.AddPartitionsToTxnResponseData;
import org.apache.kafka.common.message.AddPartitionsToTxnResponseData.AddPartitionsToTxnPartitionResult;
import org.apache.kafka.common.message.AddPartitionsToTxnResponseData.AddPartitionsToTxnTopicResult;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.EndTxnRequestData;
import org.apache.kafka.common.message.EndTxnResponseData;
import org.apache.kafka.common.message.FindCoordinatorRequestData;
import org.apache.kafka.common.message.FindCoordinatorResponseData;
import org.apache.kafka.common.message.FindCoordinatorResponseData.Coordinator;
import org.apache.kafka.common.message.InitProducerIdRequestData;
import org.apache.kafka.common.message.InitProducerIdResponseData;
import org.apache.kafka.common.message.TxnOffsetCommitRequestData;
import org.apache.kafka.common.message.TxnOffsetCommitResponseData;
import org.apache.kafka.common.message.TxnOffsetCommitResponseData.TxnOffsetCommitResponsePartition;
import org.apache.kafka.common.message.TxnOffsetCommitResponseData.TxnOffsetCommitResponseTopic;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the requests of a transaction say, and what is told of their answers. The broker is scripted. */
@Timeout(120)
class TransactionRequestsTest {
    private static final short IMPLICIT = 2;
    private static final ProducerId ID = new ProducerId(77, (short) 3);
    private static final TopicPartition A0 = new TopicPartition("a", 0);
    private static final TopicPartition A1 = new TopicPartition("a", 1);
    private static final TopicPartition B0 = new TopicPartition("b", 0);

    private LinkFixture fixture = fixture(IMPLICIT);

    @AfterEach
    void close() {
        fixture.close();
    }

    private static LinkFixture fixture(int transactionVersion) {
        return fixture(transactionVersion, 30_000);
    }

    private static LinkFixture fixture(int transactionVersion, int requestTimeoutMs) {
        return new LinkFixture(
                transactionVersion,
                "transactional.id",
                "transfers",
                "transaction.timeout.ms",
                12_345,
                "request.timeout.ms",
                requestTimeoutMs);
    }

    @Test
    void shouldAddPartitionsByWritingFromVersion2OfTransactionsOn() {
        fixture.connect();
        assertThat(transactions().chooseProtocol()).isFalse();
        for (int version : new int[] {0, 1}) {
            fixture.close();
            fixture = fixture(version);
            fixture.connect();
            assertThat(transactions().chooseProtocol())
                    .as("version %s", version)
                    .isTrue();
        }
    }

    @Test
    void shouldFindTheCoordinatorOfTheTransaction() {
        fixture.on(ApiMessageType.FIND_COORDINATOR, request -> coordinator(Errors.NONE, ""));

        Told<Node> told = findCoordinator(null);

        assertThat(told.error).isNull();
        assertThat(told.answer).isEqualTo(new Node(9, "nine", 99));
        FindCoordinatorRequestData sent = sent(FindCoordinatorRequestData.class, ApiMessageType.FIND_COORDINATOR);
        assertThat(sent.keyType()).isEqualTo((byte) 1);
        assertThat(sent.coordinatorKeys()).containsExactly("transfers");
    }

    @Test
    void shouldFindTheCoordinatorOfAGroup() {
        fixture.on(ApiMessageType.FIND_COORDINATOR, request -> coordinator(Errors.NONE, ""));

        assertThat(findCoordinator("readers").answer.id()).isEqualTo(9);

        FindCoordinatorRequestData sent = sent(FindCoordinatorRequestData.class, ApiMessageType.FIND_COORDINATOR);
        assertThat(sent.keyType()).isEqualTo((byte) 0);
        assertThat(sent.coordinatorKeys()).containsExactly("readers");
    }

    @Test
    void shouldTellWhyThereIsNoCoordinator() {
        fixture.on(ApiMessageType.FIND_COORDINATOR, request -> coordinator(Errors.COORDINATOR_NOT_AVAILABLE, "soon"));
        assertThat(findCoordinator(null).error)
                .isExactlyInstanceOf(CoordinatorNotAvailableException.class)
                .hasMessage("soon");

        fixture.on(ApiMessageType.FIND_COORDINATOR, request -> coordinator(Errors.GROUP_AUTHORIZATION_FAILED, "no"));
        Told<Node> refused = findCoordinator("readers");
        assertThat(refused.answer).isNull();
        assertThat(((GroupAuthorizationException) refused.error).groupId()).isEqualTo("readers");
    }

    @Test
    void shouldAskForAnIdAndForTheNextEpochOfAKnownOne() {
        fixture.on(
                ApiMessageType.INIT_PRODUCER_ID,
                request -> new InitProducerIdResponseData().setProducerId(77).setProducerEpoch((short) 4));

        Told<ProducerId> next = init(ID);

        assertThat(next.error).isNull();
        assertThat(next.answer).isEqualTo(new ProducerId(77, (short) 4));
        InitProducerIdRequestData sent = sent(InitProducerIdRequestData.class, ApiMessageType.INIT_PRODUCER_ID);
        assertThat(sent.transactionalId()).isEqualTo("transfers");
        assertThat(sent.transactionTimeoutMs()).isEqualTo(12_345);
        assertThat(sent.producerId()).isEqualTo(77);
        assertThat(sent.producerEpoch()).isEqualTo((short) 3);

        init(new ProducerId(-2, (short) -1)); // not known
        InitProducerIdRequestData second = (InitProducerIdRequestData)
                fixture.broker.received(ApiMessageType.INIT_PRODUCER_ID).get(1).body();
        assertThat(second.producerId()).isEqualTo(-1);
        assertThat(second.producerEpoch()).isEqualTo((short) -1);
    }

    @Test
    void shouldTellWhyThereIsNoId() {
        fixture.on(
                ApiMessageType.INIT_PRODUCER_ID,
                request -> new InitProducerIdResponseData().setErrorCode(Errors.CONCURRENT_TRANSACTIONS.code()));

        assertThat(init(ID).error).isExactlyInstanceOf(ConcurrentTransactionsException.class);
    }

    @Test
    void shouldTellOnlyThePartitionsThatAreRefused() {
        AddPartitionsToTxnTopicResult topic = new AddPartitionsToTxnTopicResult().setName("a");
        topic.resultsByPartition().add(new AddPartitionsToTxnPartitionResult().setPartitionIndex(0));
        topic.resultsByPartition()
                .add(new AddPartitionsToTxnPartitionResult()
                        .setPartitionIndex(1)
                        .setPartitionErrorCode(Errors.TOPIC_AUTHORIZATION_FAILED.code()));
        AddPartitionsToTxnResponseData answer = new AddPartitionsToTxnResponseData();
        answer.resultsByTopicV3AndBelow().add(topic);
        AddPartitionsToTxnTopicResult other = new AddPartitionsToTxnTopicResult().setName("b");
        other.resultsByPartition().add(new AddPartitionsToTxnPartitionResult().setPartitionIndex(0));
        answer.resultsByTopicV3AndBelow().add(other);
        fixture.on(ApiMessageType.ADD_PARTITIONS_TO_TXN, request -> answer);

        Told<Map<TopicPartition, ApiException>> told = ask(handler ->
                transactions().addPartitions(fixture.node, ID, List.of(A0, A1, B0), handler, fixture.nowMs()));

        assertThat(told.error).isNull();
        assertThat(told.answer).containsOnlyKeys(A1);
        assertThat(told.answer.get(A1)).isExactlyInstanceOf(TopicAuthorizationException.class);
        AddPartitionsToTxnRequestData sent =
                sent(AddPartitionsToTxnRequestData.class, ApiMessageType.ADD_PARTITIONS_TO_TXN);
        assertThat(sent.v3AndBelowTransactionalId()).isEqualTo("transfers");
        assertThat(sent.v3AndBelowProducerId()).isEqualTo(77);
        assertThat(sent.v3AndBelowProducerEpoch()).isEqualTo((short) 3);
        assertThat(sent.v3AndBelowTopics().find("a").partitions()).containsExactlyInAnyOrder(0, 1);
        assertThat(sent.v3AndBelowTopics().find("b").partitions()).containsExactly(0);
    }

    @Test
    void shouldAddTheOffsetsOfAGroup() {
        AddOffsetsToTxnResponseData answer = new AddOffsetsToTxnResponseData();
        fixture.on(ApiMessageType.ADD_OFFSETS_TO_TXN, request -> answer);

        assertThat(addOffsets().error).isNull();
        AddOffsetsToTxnRequestData sent = sent(AddOffsetsToTxnRequestData.class, ApiMessageType.ADD_OFFSETS_TO_TXN);
        assertThat(sent.transactionalId()).isEqualTo("transfers");
        assertThat(sent.groupId()).isEqualTo("readers");
        assertThat(sent.producerId()).isEqualTo(77);
        assertThat(sent.producerEpoch()).isEqualTo((short) 3);

        answer.setErrorCode(Errors.GROUP_AUTHORIZATION_FAILED.code());
        assertThat(((GroupAuthorizationException) addOffsets().error).groupId()).isEqualTo("readers");
        answer.setErrorCode((short) 30_000);
        assertThat(addOffsets().error).isExactlyInstanceOf(UnknownServerException.class);
    }

    @Test
    void shouldCommitOffsetsForAMemberOfAGeneration() {
        TxnOffsetCommitResponseTopic topic = new TxnOffsetCommitResponseTopic().setName("a");
        topic.partitions().add(new TxnOffsetCommitResponsePartition().setPartitionIndex(0));
        topic.partitions()
                .add(new TxnOffsetCommitResponsePartition()
                        .setPartitionIndex(1)
                        .setErrorCode(Errors.FENCED_INSTANCE_ID.code()));
        fixture.on(
                ApiMessageType.TXN_OFFSET_COMMIT,
                request -> new TxnOffsetCommitResponseData().setTopics(List.of(topic)));

        Told<Map<TopicPartition, ApiException>> told = commitOffsets();

        assertThat(told.error).isNull();
        assertThat(told.answer).containsOnlyKeys(A1);
        assertThat(told.answer.get(A1)).isExactlyInstanceOf(FencedInstanceIdException.class);
        TxnOffsetCommitRequestData sent = sent(TxnOffsetCommitRequestData.class, ApiMessageType.TXN_OFFSET_COMMIT);
        assertThat(sent.transactionalId()).isEqualTo("transfers");
        assertThat(sent.groupId()).isEqualTo("readers");
        assertThat(sent.producerId()).isEqualTo(77);
        assertThat(sent.producerEpoch()).isEqualTo((short) 3);
        assertThat(sent.generationId()).isEqualTo(5);
        assertThat(sent.memberId()).isEqualTo("member");
        assertThat(sent.groupInstanceId()).isEqualTo("instance");
        assertThat(sent.topics().get(0).partitions())
                .extracting(
                        partition -> partition.partitionIndex(),
                        partition -> partition.committedOffset(),
                        partition -> partition.committedLeaderEpoch(),
                        partition -> partition.committedMetadata())
                .containsExactlyInAnyOrder(tuple(0, 10L, 6, "note"), tuple(1, 20L, -1, ""));
    }

    /** A newer version would add the group by itself, which the older protocol must not. */
    @Test
    void shouldUseNoVersionThatAddsByItselfWithTheOlderProtocol() {
        assertThat(versionOfCommit(IMPLICIT)).isEqualTo((short) 5);
        assertThat(versionOfCommit(1)).isEqualTo((short) 4);
    }

    private short versionOfCommit(int transactionVersion) {
        fixture.close();
        fixture = fixture(transactionVersion);
        fixture.on(
                ApiMessageType.TXN_OFFSET_COMMIT,
                request -> new TxnOffsetCommitResponseData()
                        .setTopics(List.of(new TxnOffsetCommitResponseTopic()
                                .setName("a")
                                .setPartitions(List.of(
                                        new TxnOffsetCommitResponsePartition().setPartitionIndex(0),
                                        new TxnOffsetCommitResponsePartition().setPartitionIndex(1))))));
        fixture.on(ApiMessageType.END_TXN, request -> new EndTxnResponseData());
        fixture.connect();
        transactions().chooseProtocol();
        assertThat(commitOffsets().answer).isEmpty();
        end(true);
        short version = fixture.broker.received(ApiMessageType.END_TXN).get(0).version();
        assertThat(fixture.broker
                        .received(ApiMessageType.TXN_OFFSET_COMMIT)
                        .get(0)
                        .version())
                .isEqualTo(version);
        return version;
    }

    @Test
    void shouldEndATransactionWithTheEpochOfTheNext() {
        fixture.on(
                ApiMessageType.END_TXN,
                request -> new EndTxnResponseData().setProducerId(78).setProducerEpoch((short) 0));

        Told<ProducerId> told = end(true);

        assertThat(told.error).isNull();
        assertThat(told.answer).isEqualTo(new ProducerId(78, (short) 0));
        EndTxnRequestData sent = sent(EndTxnRequestData.class, ApiMessageType.END_TXN);
        assertThat(sent.transactionalId()).isEqualTo("transfers");
        assertThat(sent.producerId()).isEqualTo(77);
        assertThat(sent.producerEpoch()).isEqualTo((short) 3);
        assertThat(sent.committed()).isTrue();
    }

    @Test
    void shouldAbortAndKeepTheIdWhenNoneIsGiven() {
        fixture.on(ApiMessageType.END_TXN, request -> new EndTxnResponseData());

        assertThat(end(false).answer).isSameAs(ID);

        EndTxnRequestData sent = sent(EndTxnRequestData.class, ApiMessageType.END_TXN);
        assertThat(sent.committed()).isFalse();
    }

    @Test
    void shouldTellWhyATransactionHasNotEnded() {
        short[] code = {Errors.INVALID_TXN_STATE.code()};
        fixture.on(ApiMessageType.END_TXN, request -> new EndTxnResponseData().setErrorCode(code[0]));

        assertThat(end(true).error).isExactlyInstanceOf(InvalidTxnStateException.class);
        code[0] = Errors.PRODUCER_FENCED.code();
        assertThat(end(true).error).isExactlyInstanceOf(ProducerFencedException.class);
    }

    @Test
    void shouldTellThatThereWasNoAnswer() {
        fixture.on(ApiMessageType.END_TXN, request -> {
            throw new EOFException();
        });
        assertThat(end(true).error).isExactlyInstanceOf(NetworkException.class);

        assertThat(findCoordinator(null).error).isExactlyInstanceOf(UnsupportedVersionException.class);
    }

    @Test
    void shouldTellThatTheAnswerIsLate() {
        fixture.close();
        fixture = fixture(IMPLICIT, 1000);
        fixture.on(ApiMessageType.END_TXN, request -> null);

        Told<ProducerId> late = end(true);

        assertThat(late.error).isExactlyInstanceOf(TimeoutException.class);
        assertThat(late.answer).isNull();
    }

    @Test
    void shouldTellWhetherTheBrokerCannotBeReached() {
        fixture.connect();
        assertThat(transactions().isUnreachable(fixture.node)).isFalse();

        fixture.broker.close();
        fixture.pollUntil(() -> transactions().isUnreachable(fixture.node));

        assertThat(fixture.link.ready(fixture.node, fixture.nowMs())).isFalse();
    }

    private TransactionLink transactions() {
        return fixture.link.transactions().orElseThrow();
    }

    private Told<Node> findCoordinator(String groupOrNull) {
        return ask(handler -> transactions().findCoordinator(fixture.node, groupOrNull, handler, fixture.nowMs()));
    }

    private Told<ProducerId> init(ProducerId current) {
        return ask(handler -> transactions().initProducerId(fixture.node, current, handler, fixture.nowMs()));
    }

    private Told<Void> addOffsets() {
        return ask(handler -> transactions().addOffsets(fixture.node, ID, "readers", handler, fixture.nowMs()));
    }

    @SuppressWarnings("removal") // there is no other way without a consumer in a group
    private Told<Map<TopicPartition, ApiException>> commitOffsets() {
        Map<TopicPartition, OffsetAndMetadata> offsets =
                Map.of(A0, new OffsetAndMetadata(10, Optional.of(6), "note"), A1, new OffsetAndMetadata(20));
        ConsumerGroupMetadata group = new ConsumerGroupMetadata("readers", 5, "member", Optional.of("instance"));
        return ask(handler -> transactions().commitOffsets(fixture.node, ID, offsets, group, handler, fixture.nowMs()));
    }

    private Told<ProducerId> end(boolean commit) {
        return ask(handler -> transactions().end(fixture.node, ID, commit, handler, fixture.nowMs()));
    }

    /** Connects, sends, and polls until the request is told to have ended. */
    private <T> Told<T> ask(Consumer<Handler<T>> request) {
        List<Told<T>> told = new ArrayList<>();
        fixture.connect();
        request.accept((answer, error) -> told.add(new Told<>(answer, error)));
        fixture.pollUntil(() -> !told.isEmpty());
        assertThat(told).hasSize(1);
        return told.get(0);
    }

    private <R extends ApiMessage> R sent(Class<R> kind, ApiMessageType type) {
        return kind.cast(fixture.broker.received(type).get(0).body());
    }

    private static FindCoordinatorResponseData coordinator(Errors error, String message) {
        return new FindCoordinatorResponseData()
                .setCoordinators(List.of(new Coordinator()
                        .setKey("any")
                        .setNodeId(9)
                        .setHost("nine")
                        .setPort(99)
                        .setErrorCode(error.code())
                        .setErrorMessage(message)));
    }

    /** What a handler was told. */
    private record Told<T>(T answer, KafkaException error) {}
}
