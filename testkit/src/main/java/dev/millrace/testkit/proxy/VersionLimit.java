package dev.millrace.testkit.proxy;

import dev.millrace.kafka.common.message.ApiVersionsResponseData;
import dev.millrace.kafka.common.message.ApiVersionsResponseData.ApiVersion;
import dev.millrace.kafka.common.protocol.ApiKeys;
import dev.millrace.kafka.common.protocol.ByteBufferAccessor;
import dev.millrace.kafka.common.protocol.Errors;
import dev.millrace.kafka.common.protocol.MessageUtil;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Makes a broker look older than it is: changes what it answers to ApiVersions, and has no features. Frames have their
 * size in front.
 *
 * <p><b>Threads:</b> immutable.
 */
public final class VersionLimit {
    /** What brokers of 2.1 speak, the oldest that kafka-clients 4 talks to (KIP-896), as far as producers and mirrors ask. */
    public static final VersionLimit KAFKA_2_1 = new VersionLimit(Map.ofEntries(
            Map.entry(ApiKeys.PRODUCE, 7),
            Map.entry(ApiKeys.METADATA, 7),
            Map.entry(ApiKeys.API_VERSIONS, 2),
            Map.entry(ApiKeys.FIND_COORDINATOR, 2),
            Map.entry(ApiKeys.INIT_PRODUCER_ID, 1),
            Map.entry(ApiKeys.ADD_PARTITIONS_TO_TXN, 1),
            Map.entry(ApiKeys.ADD_OFFSETS_TO_TXN, 1),
            Map.entry(ApiKeys.END_TXN, 1),
            Map.entry(ApiKeys.TXN_OFFSET_COMMIT, 2),
            Map.entry(ApiKeys.FETCH, 10),
            Map.entry(ApiKeys.LIST_OFFSETS, 4),
            Map.entry(ApiKeys.OFFSET_FOR_LEADER_EPOCH, 2),
            Map.entry(ApiKeys.OFFSET_COMMIT, 6),
            Map.entry(ApiKeys.OFFSET_FETCH, 5),
            Map.entry(ApiKeys.JOIN_GROUP, 3),
            Map.entry(ApiKeys.SYNC_GROUP, 2),
            Map.entry(ApiKeys.HEARTBEAT, 2),
            Map.entry(ApiKeys.LEAVE_GROUP, 2),
            Map.entry(ApiKeys.DESCRIBE_GROUPS, 2),
            Map.entry(ApiKeys.LIST_GROUPS, 2),
            Map.entry(ApiKeys.CREATE_TOPICS, 3),
            Map.entry(ApiKeys.CREATE_PARTITIONS, 1),
            Map.entry(ApiKeys.DESCRIBE_CONFIGS, 2)));

    private static final int API_KEY_AT = Integer.BYTES;
    private static final int VERSION_AT = API_KEY_AT + Short.BYTES;
    private static final int CORRELATION_ID_AT = VERSION_AT + Short.BYTES;
    private static final int ANSWER_AT = 2 * Integer.BYTES;

    /** By the number of the request: a broker may have some that {@link ApiKeys} does not know. */
    private final Map<Short, Integer> newest;

    /** Only these requests are known, each up to this version. */
    public VersionLimit(Map<ApiKeys, Integer> newest) {
        this.newest = newest.entrySet().stream()
                .collect(Collectors.toUnmodifiableMap(entry -> entry.getKey().id, Map.Entry::getValue));
    }

    boolean allows(byte[] request) {
        ByteBuffer header = ByteBuffer.wrap(request);
        Integer limit = newest.get(header.getShort(API_KEY_AT));
        return limit != null && header.getShort(VERSION_AT) <= limit;
    }

    static boolean isApiVersions(byte[] request) {
        return ByteBuffer.wrap(request).getShort(API_KEY_AT) == ApiKeys.API_VERSIONS.id;
    }

    static short version(byte[] request) {
        return ByteBuffer.wrap(request).getShort(VERSION_AT);
    }

    /** What an old broker answers to an ApiVersions request that is too new for it. */
    byte[] refuse(byte[] request) {
        ApiVersionsResponseData answer = new ApiVersionsResponseData().setErrorCode(Errors.UNSUPPORTED_VERSION.code());
        answer.apiKeys()
                .add(new ApiVersion()
                        .setApiKey(ApiKeys.API_VERSIONS.id)
                        .setMaxVersion(newest.get(ApiKeys.API_VERSIONS.id).shortValue()));
        return frame(ByteBuffer.wrap(request).getInt(CORRELATION_ID_AT), answer, (short) 0);
    }

    /** The broker's answer to an ApiVersions request, without what it has that an old one lacks. */
    byte[] limit(byte[] response, short version) {
        ByteBuffer buffer = ByteBuffer.wrap(response);
        int correlationId = buffer.getInt(Integer.BYTES);
        ApiVersionsResponseData theirs =
                new ApiVersionsResponseData(new ByteBufferAccessor(buffer.position(ANSWER_AT)), version);
        ApiVersionsResponseData answer = new ApiVersionsResponseData().setErrorCode(theirs.errorCode());
        for (ApiVersion api : theirs.apiKeys()) {
            Integer limit = newest.get(api.apiKey());
            if (limit != null) {
                answer.apiKeys()
                        .add(new ApiVersion()
                                .setApiKey(api.apiKey())
                                .setMinVersion(api.minVersion())
                                .setMaxVersion((short) Math.min(api.maxVersion(), limit)));
            }
        }
        return frame(correlationId, answer, version);
    }

    private static byte[] frame(int correlationId, ApiVersionsResponseData answer, short version) {
        ByteBuffer body = MessageUtil.toByteBufferAccessor(answer, version).buffer();
        byte[] frame = new byte[ANSWER_AT + body.remaining()];
        ByteBuffer.wrap(frame)
                .putInt(frame.length - Integer.BYTES)
                .putInt(correlationId)
                .put(body);
        return frame;
    }
}
