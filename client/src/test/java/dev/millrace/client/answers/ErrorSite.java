package dev.millrace.client.answers;

import dev.millrace.testkit.stub.ScriptedBroker.Request;
import java.util.List;
import java.util.function.Predicate;
import org.apache.kafka.common.message.AddOffsetsToTxnResponseData;
import org.apache.kafka.common.message.AddPartitionsToTxnResponseData;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.message.EndTxnRequestData;
import org.apache.kafka.common.message.EndTxnResponseData;
import org.apache.kafka.common.message.FindCoordinatorRequestData;
import org.apache.kafka.common.message.FindCoordinatorResponseData;
import org.apache.kafka.common.message.GetTelemetrySubscriptionsResponseData;
import org.apache.kafka.common.message.InitProducerIdResponseData;
import org.apache.kafka.common.message.MetadataRequestData;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.ProduceResponseData;
import org.apache.kafka.common.message.PushTelemetryResponseData;
import org.apache.kafka.common.message.SaslAuthenticateResponseData;
import org.apache.kafka.common.message.SaslHandshakeResponseData;
import org.apache.kafka.common.message.TxnOffsetCommitResponseData;
import org.apache.kafka.common.protocol.ApiMessage;

/** A place in an answer where a broker tells an error, and the kind of producer that meets it. */
@SuppressWarnings("ImmutableEnumChecker") // the predicates keep nothing
enum ErrorSite {
    API_VERSIONS(Scenario.IDEMPOTENT, ApiMessageType.API_VERSIONS),
    METADATA(Scenario.IDEMPOTENT, ApiMessageType.METADATA, ErrorSite::isForTopics),
    METADATA_OF_TOPIC(Scenario.IDEMPOTENT, ApiMessageType.METADATA, ErrorSite::isForTopics),
    METADATA_OF_PARTITION(Scenario.IDEMPOTENT, ApiMessageType.METADATA, ErrorSite::isForTopics),
    INIT_PRODUCER_ID(Scenario.IDEMPOTENT, ApiMessageType.INIT_PRODUCER_ID),
    PRODUCE_PLAIN(Scenario.PLAIN, ApiMessageType.PRODUCE),
    PRODUCE(Scenario.IDEMPOTENT, ApiMessageType.PRODUCE),
    PRODUCE_IN_TRANSACTION_1(Scenario.TRANSACTIONS_1, ApiMessageType.PRODUCE),
    PRODUCE_IN_TRANSACTION_2(Scenario.TRANSACTIONS_2, ApiMessageType.PRODUCE),
    FIND_TRANSACTION_COORDINATOR(
            Scenario.TRANSACTIONS_2, ApiMessageType.FIND_COORDINATOR, request -> isGroup(request, false)),
    FIND_GROUP_COORDINATOR(Scenario.TRANSACTIONS_2, ApiMessageType.FIND_COORDINATOR, request -> isGroup(request, true)),
    INIT_TRANSACTIONS(Scenario.TRANSACTIONS_2, ApiMessageType.INIT_PRODUCER_ID),
    ADD_PARTITIONS_TO_TXN(Scenario.TRANSACTIONS_1, ApiMessageType.ADD_PARTITIONS_TO_TXN),
    ADD_OFFSETS_TO_TXN(Scenario.TRANSACTIONS_1, ApiMessageType.ADD_OFFSETS_TO_TXN),
    TXN_OFFSET_COMMIT_1(Scenario.TRANSACTIONS_1, ApiMessageType.TXN_OFFSET_COMMIT),
    TXN_OFFSET_COMMIT_2(Scenario.TRANSACTIONS_2, ApiMessageType.TXN_OFFSET_COMMIT),
    COMMIT_1(Scenario.TRANSACTIONS_1, ApiMessageType.END_TXN, request -> isCommit(request, true)),
    COMMIT_2(Scenario.TRANSACTIONS_2, ApiMessageType.END_TXN, request -> isCommit(request, true)),
    ABORT_1(Scenario.ABORTS_1, ApiMessageType.END_TXN, request -> isCommit(request, false)),
    ABORT_2(Scenario.ABORTS_2, ApiMessageType.END_TXN, request -> isCommit(request, false)),
    SASL_HANDSHAKE(Scenario.SASL, ApiMessageType.SASL_HANDSHAKE),
    SASL_AUTHENTICATE(Scenario.SASL, ApiMessageType.SASL_AUTHENTICATE),
    GET_TELEMETRY_SUBSCRIPTIONS(Scenario.TELEMETRY, ApiMessageType.GET_TELEMETRY_SUBSCRIPTIONS),
    PUSH_TELEMETRY(Scenario.TELEMETRY, ApiMessageType.PUSH_TELEMETRY);

    final Scenario scenario;
    private final ApiMessageType type;
    private final Predicate<ApiMessage> isMeant;

    ErrorSite(Scenario scenario, ApiMessageType type) {
        this(scenario, type, request -> true);
    }

    ErrorSite(Scenario scenario, ApiMessageType type, Predicate<ApiMessage> isMeant) {
        this.scenario = scenario;
        this.type = type;
        this.isMeant = isMeant;
    }

    /** Whether the answers are those to records. */
    boolean isOfRecords() {
        return type == ApiMessageType.PRODUCE;
    }

    /** The first call of a program that learns of the error, as {@link Scenario#play} names it. */
    String call() {
        return switch (this) {
            case FIND_TRANSACTION_COORDINATOR, INIT_TRANSACTIONS -> "init";
            case FIND_GROUP_COORDINATOR, ADD_OFFSETS_TO_TXN, TXN_OFFSET_COMMIT_1, TXN_OFFSET_COMMIT_2 -> "offsets";
            case COMMIT_1, COMMIT_2 -> "commit";
            case ABORT_1, ABORT_2 -> "abort";
            default -> "record";
        };
    }

    boolean isAt(Request request) {
        return request.type() == type && isMeant.test(request.body());
    }

    /** Puts the error there, and takes away what a broker leaves out when it tells one. */
    void put(short code, ApiMessage answer) {
        switch (type) {
            case API_VERSIONS -> ((ApiVersionsResponseData) answer).setErrorCode(code);
            case METADATA -> putIntoMetadata(code, (MetadataResponseData) answer);
            case INIT_PRODUCER_ID ->
                ((InitProducerIdResponseData) answer)
                        .setErrorCode(code)
                        .setProducerId(-1)
                        .setProducerEpoch((short) -1);
            case PRODUCE ->
                ((ProduceResponseData) answer)
                        .responses()
                        .forEach(topic -> topic.partitionResponses()
                                .forEach(partition ->
                                        partition.setErrorCode(code).setBaseOffset(-1)));
            case FIND_COORDINATOR ->
                ((FindCoordinatorResponseData) answer)
                        .coordinators()
                        .forEach(coordinator -> coordinator
                                .setErrorCode(code)
                                .setNodeId(-1)
                                .setHost("")
                                .setPort(-1));
            case ADD_PARTITIONS_TO_TXN ->
                ((AddPartitionsToTxnResponseData) answer)
                        .resultsByTopicV3AndBelow()
                        .forEach(topic ->
                                topic.resultsByPartition().forEach(partition -> partition.setPartitionErrorCode(code)));
            case ADD_OFFSETS_TO_TXN -> ((AddOffsetsToTxnResponseData) answer).setErrorCode(code);
            case TXN_OFFSET_COMMIT ->
                ((TxnOffsetCommitResponseData) answer)
                        .topics()
                        .forEach(topic -> topic.partitions().forEach(partition -> partition.setErrorCode(code)));
            case END_TXN ->
                ((EndTxnResponseData) answer)
                        .setErrorCode(code)
                        .setProducerId(-1)
                        .setProducerEpoch((short) -1);
            case SASL_HANDSHAKE -> ((SaslHandshakeResponseData) answer).setErrorCode(code);
            case SASL_AUTHENTICATE -> ((SaslAuthenticateResponseData) answer).setErrorCode(code);
            case GET_TELEMETRY_SUBSCRIPTIONS -> ((GetTelemetrySubscriptionsResponseData) answer).setErrorCode(code);
            case PUSH_TELEMETRY -> ((PushTelemetryResponseData) answer).setErrorCode(code);
            default -> throw new AssertionError(type);
        }
    }

    private void putIntoMetadata(short code, MetadataResponseData answer) {
        if (this == METADATA) {
            answer.setErrorCode(code);
            answer.brokers().clear();
        }
        answer.topics().forEach(topic -> {
            if (this == METADATA_OF_PARTITION) {
                topic.partitions().get(0).setErrorCode(code).setLeaderId(-1);
            } else {
                topic.setErrorCode(code).setPartitions(List.of());
            }
        });
    }

    /** A producer may ask for the brokers before it asks for a topic. */
    private static boolean isForTopics(ApiMessage request) {
        return !((MetadataRequestData) request).topics().isEmpty();
    }

    private static boolean isGroup(ApiMessage request, boolean isWanted) {
        return (((FindCoordinatorRequestData) request).keyType() == 0) == isWanted;
    }

    private static boolean isCommit(ApiMessage request, boolean isWanted) {
        return ((EndTxnRequestData) request).committed() == isWanted;
    }
}
