package dev.millrace.client.kafka;

import dev.millrace.client.io.ProducerId;
import dev.millrace.client.io.TransactionLink;
import dev.millrace.kafka.clients.ApiVersions;
import dev.millrace.kafka.clients.NetworkClient;
import dev.millrace.kafka.common.message.AddOffsetsToTxnRequestData;
import dev.millrace.kafka.common.message.EndTxnRequestData;
import dev.millrace.kafka.common.message.EndTxnResponseData;
import dev.millrace.kafka.common.message.FindCoordinatorRequestData;
import dev.millrace.kafka.common.message.FindCoordinatorResponseData.Coordinator;
import dev.millrace.kafka.common.message.InitProducerIdRequestData;
import dev.millrace.kafka.common.message.TxnOffsetCommitRequestData;
import dev.millrace.kafka.common.message.TxnOffsetCommitRequestData.TxnOffsetCommitRequestPartition;
import dev.millrace.kafka.common.message.TxnOffsetCommitRequestData.TxnOffsetCommitRequestTopic;
import dev.millrace.kafka.common.message.TxnOffsetCommitResponseData;
import dev.millrace.kafka.common.protocol.Errors;
import dev.millrace.kafka.common.record.internal.RecordBatch;
import dev.millrace.kafka.common.requests.AbstractRequest;
import dev.millrace.kafka.common.requests.AbstractResponse;
import dev.millrace.kafka.common.requests.AddOffsetsToTxnRequest;
import dev.millrace.kafka.common.requests.AddOffsetsToTxnResponse;
import dev.millrace.kafka.common.requests.AddPartitionsToTxnRequest;
import dev.millrace.kafka.common.requests.AddPartitionsToTxnResponse;
import dev.millrace.kafka.common.requests.EndTxnRequest;
import dev.millrace.kafka.common.requests.EndTxnResponse;
import dev.millrace.kafka.common.requests.FindCoordinatorRequest;
import dev.millrace.kafka.common.requests.FindCoordinatorRequest.CoordinatorType;
import dev.millrace.kafka.common.requests.FindCoordinatorResponse;
import dev.millrace.kafka.common.requests.InitProducerIdRequest;
import dev.millrace.kafka.common.requests.InitProducerIdResponse;
import dev.millrace.kafka.common.requests.TxnOffsetCommitRequest;
import dev.millrace.kafka.common.requests.TxnOffsetCommitResponse;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.GroupAuthorizationException;

/**
 * Implements {@link TransactionLink} on kafka-clients' request and response classes.
 *
 * <p><b>Threads:</b> one I/O thread.
 */
final class TransactionRequests implements TransactionLink {
    private static final String FEATURE = "transaction.version";
    /** From this version of the feature on, a produce request adds its partitions to the transaction (KIP-890). */
    private static final short IMPLICIT_SINCE_VERSION = 2;

    private final NetworkBrokerLink link;
    private final NetworkClient client;
    private final ApiVersions versions;
    private final TransactionProtocol protocol;

    TransactionRequests(
            NetworkBrokerLink link, NetworkClient client, ApiVersions versions, TransactionProtocol protocol) {
        this.link = link;
        this.client = client;
        this.versions = versions;
        this.protocol = protocol;
    }

    @Override
    public boolean chooseProtocol() {
        Map<String, Short> finalized = versions.getFinalizedFeaturesInfo().finalizedFeatures;
        Short version = finalized == null ? null : finalized.get(FEATURE);
        protocol.setExplicit(version == null || version < IMPLICIT_SINCE_VERSION);
        return protocol.isExplicit();
    }

    @Override
    public boolean isUnreachable(Node node) {
        return client.connectionFailed(node);
    }

    @Override
    public void findCoordinator(Node any, String groupOrNull, Handler<Node> handler, long nowMs) {
        String key = groupOrNull == null ? protocol.transactionalId() : groupOrNull;
        CoordinatorType type = groupOrNull == null ? CoordinatorType.TRANSACTION : CoordinatorType.GROUP;
        FindCoordinatorRequestData data =
                new FindCoordinatorRequestData().setKeyType(type.id()).setKey(key);
        send(
                any,
                new FindCoordinatorRequest.Builder(data),
                handler,
                (FindCoordinatorResponse response) -> {
                    Coordinator found = response.coordinators().get(0);
                    Errors error = Errors.forCode(found.errorCode());
                    return new Told<>(
                            error == Errors.NONE ? node(found) : null,
                            exception(error, found.errorMessage(), groupOrNull));
                },
                nowMs);
    }

    @Override
    public void initProducerId(Node coordinator, ProducerId current, Handler<ProducerId> handler, long nowMs) {
        InitProducerIdRequestData data = new InitProducerIdRequestData()
                .setTransactionalId(protocol.transactionalId())
                .setTransactionTimeoutMs(protocol.timeoutMs());
        if (current.isKnown()) {
            data.setProducerId(current.id()).setProducerEpoch(current.epoch());
        }
        send(
                coordinator,
                new InitProducerIdRequest.Builder(data),
                handler,
                (InitProducerIdResponse response) -> response.error() == Errors.NONE
                        ? new Told<>(
                                given(
                                        response.data().producerId(),
                                        response.data().producerEpoch()),
                                null)
                        : new Told<>(null, exception(response.error(), null, null)),
                nowMs);
    }

    @Override
    public void addPartitions(
            Node coordinator,
            ProducerId id,
            Collection<TopicPartition> partitions,
            Handler<Map<TopicPartition, ApiException>> handler,
            long nowMs) {
        AddPartitionsToTxnRequest.Builder request = AddPartitionsToTxnRequest.Builder.forClient(
                protocol.transactionalId(), id.id(), id.epoch(), new ArrayList<>(partitions));
        send(
                coordinator,
                request,
                handler,
                (AddPartitionsToTxnResponse response) -> new Told<>(
                        refused(
                                response.errors().get(AddPartitionsToTxnResponse.V3_AND_BELOW_TXN_ID),
                                partitions,
                                null),
                        null),
                nowMs);
    }

    @Override
    public void addOffsets(Node coordinator, ProducerId id, String group, Handler<Void> handler, long nowMs) {
        AddOffsetsToTxnRequestData data = new AddOffsetsToTxnRequestData()
                .setTransactionalId(protocol.transactionalId())
                .setProducerId(id.id())
                .setProducerEpoch(id.epoch())
                .setGroupId(group);
        send(
                coordinator,
                new AddOffsetsToTxnRequest.Builder(data),
                handler,
                (AddOffsetsToTxnResponse response) -> new Told<>(
                        null, exception(Errors.forCode(response.data().errorCode()), null, group)),
                nowMs);
    }

    @Override
    public void commitOffsets(
            Node groupCoordinator,
            ProducerId id,
            Map<TopicPartition, OffsetAndMetadata> offsets,
            ConsumerGroupMetadata group,
            Handler<Map<TopicPartition, ApiException>> handler,
            long nowMs) {
        TxnOffsetCommitRequestData data = new TxnOffsetCommitRequestData()
                .setTransactionalId(protocol.transactionalId())
                .setGroupId(group.groupId())
                .setProducerId(id.id())
                .setProducerEpoch(id.epoch())
                .setMemberId(group.memberId())
                .setGenerationIdOrMemberEpoch(group.generationId())
                .setGroupInstanceId(group.groupInstanceId().orElse(null))
                .setTopics(committed(offsets));
        send(
                groupCoordinator,
                TxnOffsetCommitRequest.Builder.forTopicNames(data, !protocol.isExplicit()),
                handler,
                (TxnOffsetCommitResponse response) ->
                        new Told<>(refused(errors(response.data()), offsets.keySet(), group.groupId()), null),
                nowMs);
    }

    private static List<TxnOffsetCommitRequestTopic> committed(Map<TopicPartition, OffsetAndMetadata> offsets) {
        Map<String, TxnOffsetCommitRequestTopic> topics = new HashMap<>();
        offsets.forEach((partition, offset) -> topics.computeIfAbsent(
                        partition.topic(), name -> new TxnOffsetCommitRequestTopic().setName(name))
                .partitions()
                .add(new TxnOffsetCommitRequestPartition()
                        .setPartitionIndex(partition.partition())
                        .setCommittedOffset(offset.offset())
                        .setCommittedLeaderEpoch(offset.leaderEpoch().orElse(RecordBatch.NO_PARTITION_LEADER_EPOCH))
                        .setCommittedMetadata(offset.metadata())));
        return new ArrayList<>(topics.values());
    }

    private static Map<TopicPartition, Errors> errors(TxnOffsetCommitResponseData answer) {
        Map<TopicPartition, Errors> errors = new HashMap<>();
        answer.topics()
                .forEach(topic -> topic.partitions()
                        .forEach(partition -> errors.put(
                                new TopicPartition(topic.name(), partition.partitionIndex()),
                                Errors.forCode(partition.errorCode()))));
        return errors;
    }

    @Override
    public void end(Node coordinator, ProducerId id, boolean commit, Handler<ProducerId> handler, long nowMs) {
        EndTxnRequestData data = new EndTxnRequestData()
                .setTransactionalId(protocol.transactionalId())
                .setProducerId(id.id())
                .setProducerEpoch(id.epoch())
                .setCommitted(commit);
        send(
                coordinator,
                new EndTxnRequest.Builder(data, !protocol.isExplicit()),
                handler,
                (EndTxnResponse response) -> {
                    EndTxnResponseData answer = response.data();
                    boolean gaveNewEpoch = answer.producerId() != RecordBatch.NO_PRODUCER_ID;
                    return new Told<>(
                            gaveNewEpoch ? given(answer.producerId(), answer.producerEpoch()) : id,
                            exception(response.error(), null, null));
                },
                nowMs);
    }

    /** The content of an answer. */
    private record Told<T>(T answer, KafkaException error) {}

    @SuppressWarnings("unchecked") // each kind of request has one class of responses
    private <R extends AbstractResponse, T> void send(
            Node node,
            AbstractRequest.Builder<?> request,
            Handler<T> handler,
            Function<R, Told<T>> reading,
            long nowMs) {
        link.send(node, request, true, nowMs, response -> {
            KafkaException failure = BrokerConnections.failureOrNull(response);
            if (failure != null) {
                handler.onAnswer(null, failure);
            } else {
                Told<T> told = BrokerConnections.read(() -> reading.apply((R) response.responseBody()));
                handler.onAnswer(told.answer, told.error);
            }
        });
    }

    private static Node node(Coordinator found) {
        Node node = new Node(found.nodeId(), found.host(), found.port());
        if (!BrokerConnections.isConnectable(node)) {
            throw new SenselessAnswerException("Nobody can connect to the coordinator " + node);
        }
        return node;
    }

    /** @throws SenselessAnswerException the numbers are not a valid id */
    static ProducerId given(long producerId, short epoch) {
        if (producerId < 0 || epoch < 0) {
            throw new SenselessAnswerException("A producer cannot have the id " + producerId + ", epoch " + epoch);
        }
        return new ProducerId(producerId, epoch);
    }

    /** Checks the partitions: one that is not mentioned must not be taken for one that is not refused. */
    private static Map<TopicPartition, ApiException> refused(
            Map<TopicPartition, Errors> errors, Collection<TopicPartition> asked, String group) {
        if (errors == null || !errors.keySet().containsAll(asked)) {
            throw new SenselessAnswerException("Of " + asked + " it mentions " + errors);
        }
        Map<TopicPartition, ApiException> refused = new HashMap<>();
        errors.forEach((partition, error) -> {
            if (error != Errors.NONE) {
                refused.put(partition, exception(error, null, group));
            }
        });
        return refused;
    }

    /** Returns the exception; null for no error. An exception that can name the group names it. */
    private static ApiException exception(Errors error, String message, String group) {
        return switch (error) {
            case NONE -> null;
            case GROUP_AUTHORIZATION_FAILED -> GroupAuthorizationException.forGroupId(group);
            default -> message == null ? error.exception() : error.exception(message);
        };
    }
}
