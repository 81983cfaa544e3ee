package dev.millrace.client.kafka;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.io.BrokerLink.ProduceAnswer;
import dev.millrace.client.io.BrokerLink.ProduceHandler;
import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.kafka.clients.ClientResponse;
import dev.millrace.kafka.common.message.ProduceRequestData;
import dev.millrace.kafka.common.message.ProduceRequestData.PartitionProduceData;
import dev.millrace.kafka.common.message.ProduceRequestData.TopicProduceData;
import dev.millrace.kafka.common.message.ProduceResponseData.BatchIndexAndErrorMessage;
import dev.millrace.kafka.common.message.ProduceResponseData.LeaderIdAndEpoch;
import dev.millrace.kafka.common.message.ProduceResponseData.NodeEndpoint;
import dev.millrace.kafka.common.message.ProduceResponseData.PartitionProduceResponse;
import dev.millrace.kafka.common.message.ProduceResponseData.TopicProduceResponse;
import dev.millrace.kafka.common.protocol.ApiKeys;
import dev.millrace.kafka.common.protocol.Errors;
import dev.millrace.kafka.common.record.internal.MemoryRecords;
import dev.millrace.kafka.common.requests.ProduceRequest;
import dev.millrace.kafka.common.requests.ProduceResponse;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownServerException;

/**
 * One produce request and its response. Topic ids are those of the image by which the batches were routed: if a topic
 * is deleted and created again meanwhile, the new topic must not receive records for the old one, nor be taken for it
 * when the response is read (KAFKA-19397).
 *
 * <p><b>Threads:</b> one I/O thread.
 */
final class ProduceExchange {
    /** Later versions identify topics by id only (KIP-516). */
    private static final short LAST_VERSION_WITH_NAMES = 12;

    private final List<FinishedBatch> batches;
    private final Map<String, Uuid> idsByTopic = new HashMap<>();
    private final Map<Uuid, String> topicsById = new HashMap<>();

    ProduceExchange(List<FinishedBatch> batches, ClusterImage image) {
        this.batches = batches;
        for (FinishedBatch batch : batches) {
            String topic = batch.partition().topic();
            Uuid id = image.topic(topic).id();
            idsByTopic.put(topic, id);
            topicsById.put(id, topic);
        }
    }

    ProduceRequest.Builder request(short acks, int timeoutMs, TransactionProtocol protocol) {
        ProduceRequestData data = new ProduceRequestData()
                .setAcks(acks)
                .setTimeoutMs(timeoutMs)
                .setTransactionalId(protocol.transactionalId());
        for (FinishedBatch batch : batches) {
            String topic = batch.partition().topic();
            Uuid id = idsByTopic.get(topic);
            TopicProduceData topicData = data.topicData().find(topic, id);
            if (topicData == null) {
                topicData = new TopicProduceData().setName(topic).setTopicId(id);
                data.topicData().add(topicData);
            }
            MemoryRecords records = MemoryRecords.readableRecords(ByteBuffer.wrap(batch.buffer(), 0, batch.size()));
            topicData
                    .partitionData()
                    .add(new PartitionProduceData()
                            .setIndex(batch.partition().partition())
                            .setRecords(records));
        }
        boolean needsNames = idsByTopic.containsValue(Uuid.ZERO_UUID); // a topic of brokers without topic ids
        return needsNames && !protocol.isExplicit()
                ? new ProduceRequest.Builder(ApiKeys.PRODUCE.oldestVersion(), LAST_VERSION_WITH_NAMES, data)
                : ProduceRequest.builder(data, protocol.isExplicit());
    }

    /** Passes on an answer for each batch, whatever the response is. */
    void handleResponse(ClientResponse response, ProduceHandler handler) {
        KafkaException failure = BrokerConnections.failureOrNull(response);
        if (failure != null) {
            ApiException error = failure instanceof ApiException api ? api : new UnknownServerException(failure);
            handler.onAnswers(sameForAll(error), List.of(), List.of());
        } else if (!response.hasResponse()) { // acks=0: no more than the write to the socket is known
            handler.onAnswers(sameForAll(null), List.of(), List.of());
        } else {
            handleBody((ProduceResponse) response.responseBody(), handler);
        }
    }

    private List<ProduceAnswer> sameForAll(ApiException error) {
        List<ProduceAnswer> answers = new ArrayList<>(batches.size());
        for (FinishedBatch batch : batches) {
            answers.add(new ProduceAnswer(batch, error, -1, -1));
        }
        return answers;
    }

    private void handleBody(ProduceResponse response, ProduceHandler handler) {
        Map<TopicPartition, PartitionProduceResponse> byPartition = new HashMap<>();
        for (TopicProduceResponse topic : response.data().responses()) {
            String name =
                    topic.name() == null || topic.name().isEmpty() ? topicsById.get(topic.topicId()) : topic.name();
            for (PartitionProduceResponse partition : topic.partitionResponses()) {
                byPartition.put(new TopicPartition(name, partition.index()), partition);
            }
        }
        List<ProduceAnswer> answers = new ArrayList<>(batches.size());
        List<LeaderHint> leaders = new ArrayList<>();
        for (FinishedBatch batch : batches) {
            PartitionProduceResponse partition = byPartition.get(batch.partition());
            answers.add(answer(batch, partition));
            if (partition != null && partition.currentLeader().leaderId() >= 0) {
                leaders.add(hint(batch.partition(), partition.currentLeader()));
            }
        }
        List<Node> endpoints = new ArrayList<>();
        for (NodeEndpoint endpoint : response.data().nodeEndpoints()) {
            Node node = new Node(endpoint.nodeId(), endpoint.host(), endpoint.port(), endpoint.rack());
            if (BrokerConnections.isConnectable(node)) {
                endpoints.add(node);
            }
        }
        handler.onAnswers(answers, leaders, endpoints);
    }

    private LeaderHint hint(TopicPartition partition, LeaderIdAndEpoch leader) {
        String topic = partition.topic();
        return new LeaderHint(
                topic, idsByTopic.get(topic), partition.partition(), leader.leaderId(), leader.leaderEpoch());
    }

    private static ProduceAnswer answer(FinishedBatch batch, PartitionProduceResponse partition) {
        if (partition == null) { // whether it was written is unknown, as if the answer had been lost
            ApiException missing = new NetworkException("The broker's answer does not mention " + batch.partition());
            return new ProduceAnswer(batch, missing, -1, -1);
        }
        Errors error = Errors.forCode(partition.errorCode());
        if (error == Errors.NONE) {
            return new ProduceAnswer(batch, null, partition.baseOffset(), partition.logAppendTimeMs());
        }
        ApiException exception = exception(error, partition.errorMessage(), batch.partition());
        return new ProduceAnswer(batch, exception, recordErrors(partition, error), -1, -1);
    }

    /** Returns why the broker refuses some records, by index. A single one gets the class of the batch's error. */
    private static Map<Integer, ApiException> recordErrors(PartitionProduceResponse partition, Errors error) {
        Map<Integer, ApiException> byIndex = new HashMap<>();
        for (BatchIndexAndErrorMessage refused : partition.recordErrors()) {
            String message = refused.batchIndexErrorMessage();
            if (message == null) {
                message = partition.errorMessage() == null ? error.message() : partition.errorMessage();
            }
            boolean single = partition.recordErrors().size() == 1;
            byIndex.put(refused.batchIndex(), single ? error.exception(message) : new InvalidRecordException(message));
        }
        return byIndex;
    }

    private static ApiException exception(Errors error, String message, TopicPartition partition) {
        return switch (error) {
            case TOPIC_AUTHORIZATION_FAILED -> new TopicAuthorizationException(Set.of(partition.topic()));
            case CLUSTER_AUTHORIZATION_FAILED ->
                new ClusterAuthorizationException("The producer is not authorized to do idempotent sends");
            default -> message == null ? error.exception() : error.exception(message);
        };
    }
}
