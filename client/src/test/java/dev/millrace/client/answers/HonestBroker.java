package dev.millrace.client.answers;

import dev.millrace.testkit.stub.ScriptedBroker;
import dev.millrace.testkit.stub.ScriptedBroker.Request;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.AddOffsetsToTxnResponseData;
import org.apache.kafka.common.message.AddPartitionsToTxnRequestData;
import org.apache.kafka.common.message.AddPartitionsToTxnResponseData;
import org.apache.kafka.common.message.AddPartitionsToTxnResponseData.AddPartitionsToTxnPartitionResult;
import org.apache.kafka.common.message.AddPartitionsToTxnResponseData.AddPartitionsToTxnTopicResult;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.message.ApiVersionsResponseData.ApiVersion;
import org.apache.kafka.common.message.ApiVersionsResponseData.FinalizedFeatureKey;
import org.apache.kafka.common.message.DescribeConfigsResponseData;
import org.apache.kafka.common.message.DescribeProducersRequestData;
import org.apache.kafka.common.message.DescribeProducersResponseData;
import org.apache.kafka.common.message.DescribeProducersResponseData.PartitionResponse;
import org.apache.kafka.common.message.DescribeProducersResponseData.TopicResponse;
import org.apache.kafka.common.message.EndTxnRequestData;
import org.apache.kafka.common.message.EndTxnResponseData;
import org.apache.kafka.common.message.FindCoordinatorRequestData;
import org.apache.kafka.common.message.FindCoordinatorResponseData;
import org.apache.kafka.common.message.FindCoordinatorResponseData.Coordinator;
import org.apache.kafka.common.message.GetTelemetrySubscriptionsResponseData;
import org.apache.kafka.common.message.InitProducerIdRequestData;
import org.apache.kafka.common.message.InitProducerIdResponseData;
import org.apache.kafka.common.message.MetadataRequestData;
import org.apache.kafka.common.message.MetadataRequestData.MetadataRequestTopic;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponseBroker;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponsePartition;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponseTopic;
import org.apache.kafka.common.message.ProduceRequestData;
import org.apache.kafka.common.message.ProduceRequestData.PartitionProduceData;
import org.apache.kafka.common.message.ProduceRequestData.TopicProduceData;
import org.apache.kafka.common.message.ProduceResponseData;
import org.apache.kafka.common.message.ProduceResponseData.PartitionProduceResponse;
import org.apache.kafka.common.message.ProduceResponseData.TopicProduceResponse;
import org.apache.kafka.common.message.PushTelemetryResponseData;
import org.apache.kafka.common.message.SaslAuthenticateResponseData;
import org.apache.kafka.common.message.SaslHandshakeResponseData;
import org.apache.kafka.common.message.TxnOffsetCommitRequestData;
import org.apache.kafka.common.message.TxnOffsetCommitResponseData;
import org.apache.kafka.common.message.TxnOffsetCommitResponseData.TxnOffsetCommitResponsePartition;
import org.apache.kafka.common.message.TxnOffsetCommitResponseData.TxnOffsetCommitResponseTopic;
import org.apache.kafka.common.protocol.ApiMessage;

/** One broker that answers all that a producer asks as a healthy cluster would, unless a test changes the answer. */
final class HonestBroker implements AutoCloseable {
    static final String TOPIC = "t";
    private static final Uuid TOPIC_ID = new Uuid(1, 1);
    private static final int BROKER = 1;

    private final short transactionVersion;
    private final Change change;
    private final AtomicInteger nextOffset = new AtomicInteger();
    private final ScriptedBroker broker;

    /** What a test does to an answer before it is sent. */
    interface Change {
        /** Changes the answer in place. */
        void apply(Request request, ApiMessage answer) throws IOException;
    }

    /** @param transactionVersion of the cluster; from 2 on, a produce request adds its partitions by itself */
    HonestBroker(int transactionVersion, Change change, ScriptedBroker.Wire wire) {
        this.transactionVersion = (short) transactionVersion;
        this.change = change;
        broker = new ScriptedBroker(this::answer, wire);
    }

    String address() {
        return "127.0.0.1:" + broker.port();
    }

    /** Closes every connection; clients may connect again. */
    void disconnectAll() {
        broker.disconnectAll();
    }

    @Override
    public void close() {
        broker.close();
    }

    private ApiMessage answer(Request request) throws IOException {
        ApiMessage answer = honestAnswer(request);
        change.apply(request, answer);
        return answer;
    }

    private ApiMessage honestAnswer(Request request) {
        return switch (request.type()) {
            case API_VERSIONS -> versions();
            case METADATA -> metadata((MetadataRequestData) request.body());
            case PRODUCE -> acknowledgement((ProduceRequestData) request.body());
            case DESCRIBE_CONFIGS -> new DescribeConfigsResponseData();
            case DESCRIBE_PRODUCERS -> remembersNothing((DescribeProducersRequestData) request.body());
            case INIT_PRODUCER_ID -> producerId((InitProducerIdRequestData) request.body());
            case FIND_COORDINATOR -> coordinator((FindCoordinatorRequestData) request.body());
            case ADD_PARTITIONS_TO_TXN -> added((AddPartitionsToTxnRequestData) request.body());
            case ADD_OFFSETS_TO_TXN -> new AddOffsetsToTxnResponseData();
            case TXN_OFFSET_COMMIT -> committed((TxnOffsetCommitRequestData) request.body());
            case END_TXN -> ended((EndTxnRequestData) request.body(), request.version());
            case SASL_HANDSHAKE -> new SaslHandshakeResponseData().setMechanisms(List.of("PLAIN"));
            case SASL_AUTHENTICATE -> new SaslAuthenticateResponseData();
            case GET_TELEMETRY_SUBSCRIPTIONS -> subscription();
            case PUSH_TELEMETRY -> new PushTelemetryResponseData();
            default -> throw new AssertionError("A producer does not ask this: " + request.type());
        };
    }

    private ApiVersionsResponseData versions() {
        ApiVersionsResponseData answer = new ApiVersionsResponseData();
        for (ApiMessageType type : ApiMessageType.values()) {
            if (type.listeners().contains(ApiMessageType.ListenerType.BROKER)) {
                answer.apiKeys()
                        .add(new ApiVersion()
                                .setApiKey(type.apiKey())
                                .setMinVersion(type.lowestSupportedVersion())
                                .setMaxVersion(type.highestSupportedVersion(false)));
            }
        }
        answer.setFinalizedFeaturesEpoch(1);
        answer.finalizedFeatures()
                .add(new FinalizedFeatureKey()
                        .setName("transaction.version")
                        .setMaxVersionLevel(transactionVersion)
                        .setMinVersionLevel(transactionVersion));
        return answer;
    }

    private MetadataResponseData metadata(MetadataRequestData request) {
        MetadataResponseData answer =
                new MetadataResponseData().setClusterId("honest").setControllerId(BROKER);
        answer.brokers()
                .add(new MetadataResponseBroker()
                        .setNodeId(BROKER)
                        .setHost("127.0.0.1")
                        .setPort(broker.port()));
        List<MetadataRequestTopic> asked = request.topics() == null ? List.of() : request.topics();
        for (MetadataRequestTopic topic : asked) {
            MetadataResponsePartition partition = new MetadataResponsePartition()
                    .setPartitionIndex(0)
                    .setLeaderId(BROKER)
                    .setLeaderEpoch(0)
                    .setReplicaNodes(List.of(BROKER))
                    .setIsrNodes(List.of(BROKER));
            answer.topics()
                    .add(new MetadataResponseTopic()
                            .setName(topic.name())
                            .setTopicId(TOPIC_ID)
                            .setPartitions(List.of(partition)));
        }
        return answer;
    }

    private ProduceResponseData acknowledgement(ProduceRequestData request) {
        ProduceResponseData answer = new ProduceResponseData();
        for (TopicProduceData topic : request.topicData()) {
            TopicProduceResponse told =
                    new TopicProduceResponse().setName(topic.name()).setTopicId(topic.topicId());
            for (PartitionProduceData partition : topic.partitionData()) {
                told.partitionResponses()
                        .add(new PartitionProduceResponse()
                                .setIndex(partition.index())
                                .setBaseOffset(nextOffset.getAndIncrement()));
            }
            answer.responses().add(told);
        }
        return answer;
    }

    /** It writes whatever comes, so it need not remember who has written what. */
    private static DescribeProducersResponseData remembersNothing(DescribeProducersRequestData request) {
        DescribeProducersResponseData answer = new DescribeProducersResponseData();
        request.topics().forEach(topic -> {
            TopicResponse told = new TopicResponse().setName(topic.name());
            topic.partitionIndexes()
                    .forEach(partition -> told.partitions().add(new PartitionResponse().setPartitionIndex(partition)));
            answer.topics().add(told);
        });
        return answer;
    }

    private static InitProducerIdResponseData producerId(InitProducerIdRequestData request) {
        boolean isKnown = request.producerId() >= 0;
        return new InitProducerIdResponseData()
                .setProducerId(isKnown ? request.producerId() : 7)
                .setProducerEpoch((short) (isKnown ? request.producerEpoch() + 1 : 0));
    }

    private FindCoordinatorResponseData coordinator(FindCoordinatorRequestData request) {
        FindCoordinatorResponseData answer = new FindCoordinatorResponseData();
        for (String key : request.coordinatorKeys()) {
            answer.coordinators()
                    .add(new Coordinator()
                            .setKey(key)
                            .setNodeId(BROKER)
                            .setHost("127.0.0.1")
                            .setPort(broker.port()));
        }
        return answer;
    }

    private static AddPartitionsToTxnResponseData added(AddPartitionsToTxnRequestData request) {
        AddPartitionsToTxnResponseData answer = new AddPartitionsToTxnResponseData();
        request.v3AndBelowTopics().forEach(topic -> {
            AddPartitionsToTxnTopicResult told = new AddPartitionsToTxnTopicResult().setName(topic.name());
            topic.partitions()
                    .forEach(partition -> told.resultsByPartition()
                            .add(new AddPartitionsToTxnPartitionResult().setPartitionIndex(partition)));
            answer.resultsByTopicV3AndBelow().add(told);
        });
        return answer;
    }

    private static TxnOffsetCommitResponseData committed(TxnOffsetCommitRequestData request) {
        TxnOffsetCommitResponseData answer = new TxnOffsetCommitResponseData();
        request.topics().forEach(topic -> {
            TxnOffsetCommitResponseTopic told = new TxnOffsetCommitResponseTopic().setName(topic.name());
            topic.partitions()
                    .forEach(partition -> told.partitions()
                            .add(new TxnOffsetCommitResponsePartition().setPartitionIndex(partition.partitionIndex())));
            answer.topics().add(told);
        });
        return answer;
    }

    private static EndTxnResponseData ended(EndTxnRequestData request, short version) {
        EndTxnResponseData answer = new EndTxnResponseData();
        if (version >= 5) { // the next transaction has another epoch
            answer.setProducerId(request.producerId()).setProducerEpoch((short) (request.producerEpoch() + 1));
        }
        return answer;
    }

    private static GetTelemetrySubscriptionsResponseData subscription() {
        return new GetTelemetrySubscriptionsResponseData()
                .setClientInstanceId(new Uuid(2, 2))
                .setSubscriptionId(3)
                .setAcceptedCompressionTypes(List.of((byte) 0))
                .setPushIntervalMs(20)
                .setTelemetryMaxBytes(1 << 20)
                .setRequestedMetrics(List.of(""));
    }
}
