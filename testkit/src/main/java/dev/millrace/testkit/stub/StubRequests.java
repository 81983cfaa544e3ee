package dev.millrace.testkit.stub;

import dev.millrace.testkit.stub.StubTopics.StubTopic;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.message.InitProducerIdResponseData;
import org.apache.kafka.common.message.MetadataRequestData;
import org.apache.kafka.common.message.MetadataRequestData.MetadataRequestTopic;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponseBroker;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponsePartition;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponseTopic;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.message.ResponseHeaderData;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

/**
 * Answers the requests of a stub broker. {@link StubProduce} answers Produce; the others are rare and need not be fast.
 */
final class StubRequests {
    private static final Map<ApiMessageType, Versions> SERVED = Map.of(
            ApiMessageType.PRODUCE, new Versions(StubProduce.MIN_VERSION, StubProduce.MAX_VERSION),
            ApiMessageType.METADATA, new Versions(0, 13),
            ApiMessageType.INIT_PRODUCER_ID, new Versions(0, 5),
            ApiMessageType.API_VERSIONS, new Versions(0, 4));

    /** What the stub only claims to serve: librdkafka infers record format, compression and idempotence from these. */
    private static final Map<ApiMessageType, Versions> CLAIMED = Map.of(
            ApiMessageType.PRODUCE, new Versions(0, StubProduce.MAX_VERSION),
            ApiMessageType.FETCH, new Versions(0, 12),
            ApiMessageType.LIST_OFFSETS, new Versions(0, 7),
            ApiMessageType.FIND_COORDINATOR, new Versions(0, 4));

    private final StubTopics topics;
    private final List<Integer> ports;
    private final StubProduce produce;
    private long nextProducerId = 1;

    /** @param ports of the stub's brokers 1, 2, … */
    StubRequests(StubTopics topics, List<Integer> ports) {
        this.topics = topics;
        this.ports = ports;
        produce = new StubProduce(topics);
    }

    /** The response with its size in front; empty if the protocol has none. */
    Optional<ByteBuffer> answer(ByteBuffer request) {
        ApiMessageType type = ApiMessageType.fromApiKey(request.getShort(0));
        short version = request.getShort(2);
        int correlationId = request.getInt(4);
        Versions served = SERVED.get(type);
        if (type == ApiMessageType.API_VERSIONS && !served.contain(version)) {
            // The client may be newer than the stub. Brokers then answer in version 0, which all clients read.
            return Optional.of(serialize(type, (short) 0, correlationId, apiVersions(Errors.UNSUPPORTED_VERSION)));
        }
        if (served == null || !served.contain(version)) {
            throw new IllegalArgumentException("The stub broker does not serve " + type + " in version " + version);
        }
        if (type == ApiMessageType.PRODUCE) {
            return produce.answer(request, version);
        }
        ByteBufferAccessor readable = new ByteBufferAccessor(request);
        new RequestHeaderData(readable, type.requestHeaderVersion(version));
        ApiMessage response = switch (type) {
            case API_VERSIONS -> apiVersions(Errors.NONE);
            case METADATA -> metadata(new MetadataRequestData(readable, version), version);
            default ->
                new InitProducerIdResponseData().setProducerId(nextProducerId++).setProducerEpoch((short) 0);
        };
        return Optional.of(serialize(type, version, correlationId, response));
    }

    private static ApiVersionsResponseData apiVersions(Errors error) {
        ApiVersionsResponseData response = new ApiVersionsResponseData().setErrorCode(error.code());
        for (ApiMessageType type : ApiMessageType.values()) {
            Versions versions = CLAIMED.getOrDefault(type, SERVED.get(type));
            if (versions != null) {
                response.apiKeys()
                        .add(new ApiVersionsResponseData.ApiVersion()
                                .setApiKey(type.apiKey())
                                .setMinVersion((short) versions.min)
                                .setMaxVersion((short) versions.max));
            }
        }
        return response;
    }

    private MetadataResponseData metadata(MetadataRequestData request, short version) {
        MetadataResponseData response =
                new MetadataResponseData().setClusterId("stub").setControllerId(1);
        for (int broker = 0; broker < ports.size(); broker++) {
            response.brokers()
                    .add(new MetadataResponseBroker()
                            .setNodeId(broker + 1)
                            .setHost("127.0.0.1")
                            .setPort(ports.get(broker)));
        }
        boolean wantsAll =
                request.topics() == null || (version == 0 && request.topics().isEmpty());
        if (wantsAll) {
            topics.all().forEach(topic -> response.topics().add(metadata(topic)));
        } else {
            request.topics().forEach(wanted -> response.topics().add(metadata(wanted)));
        }
        return response;
    }

    private MetadataResponseTopic metadata(MetadataRequestTopic wanted) {
        boolean byName = wanted.name() != null;
        StubTopic topic = byName ? topics.namedOrNull(wanted.name()) : topics.withIdOrNull(wanted.topicId());
        if (topic != null) {
            return metadata(topic);
        }
        Errors error = byName ? Errors.UNKNOWN_TOPIC_OR_PARTITION : Errors.UNKNOWN_TOPIC_ID;
        return new MetadataResponseTopic()
                .setErrorCode(error.code())
                .setName(wanted.name())
                .setTopicId(byName ? Uuid.ZERO_UUID : wanted.topicId());
    }

    private MetadataResponseTopic metadata(StubTopic topic) {
        List<MetadataResponsePartition> partitions = IntStream.range(0, topic.partitions())
                .mapToObj(partition -> {
                    int leader = partition % ports.size() + 1;
                    return new MetadataResponsePartition()
                            .setPartitionIndex(partition)
                            .setLeaderId(leader)
                            .setLeaderEpoch(0)
                            .setReplicaNodes(List.of(leader))
                            .setIsrNodes(List.of(leader));
                })
                .toList();
        return new MetadataResponseTopic()
                .setName(topic.name())
                .setTopicId(topic.id())
                .setPartitions(partitions);
    }

    /** A response with its size in front. */
    static ByteBuffer serialize(ApiMessageType type, short version, int correlationId, ApiMessage response) {
        ResponseHeaderData header = new ResponseHeaderData().setCorrelationId(correlationId);
        short headerVersion = type.responseHeaderVersion(version);
        ObjectSerializationCache cache = new ObjectSerializationCache();
        int size = header.size(cache, headerVersion) + response.size(cache, version);
        ByteBuffer buffer = ByteBuffer.allocate(Integer.BYTES + size).putInt(size);
        ByteBufferAccessor writable = new ByteBufferAccessor(buffer);
        header.write(writable, cache, headerVersion);
        response.write(writable, cache, version);
        return buffer.flip();
    }

    private record Versions(int min, int max) {
        boolean contain(short version) {
            return min <= version && version <= max;
        }
    }
}
