package dev.millrace.testkit.stub;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.ProduceRequestData;
import org.apache.kafka.common.message.ProduceRequestData.PartitionProduceData;
import org.apache.kafka.common.message.ProduceRequestData.TopicProduceData;
import org.apache.kafka.common.message.ProduceResponseData;
import org.apache.kafka.common.message.ProduceResponseData.PartitionProduceResponse;
import org.apache.kafka.common.message.ProduceResponseData.TopicProduceResponse;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.message.ResponseHeaderData;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks what {@link StubProduce} parses and writes by hand with kafka-clients' classes. */
class StubProduceTest {
    private static final short ALL = -1;
    private static final int CORRELATION_ID = 4711;

    private final StubTopics topics = new StubTopics(List.of("t=3"));
    private final StubProduce produce = new StubProduce(topics);

    static Stream<Short> versions() {
        return IntStream.rangeClosed(StubProduce.MIN_VERSION, StubProduce.MAX_VERSION)
                .mapToObj(version -> (short) version);
    }

    @ParameterizedTest
    @MethodSource("versions")
    void shouldAcknowledgeWithRisingOffsetsWhenRequestIsOfVersion(short version) {
        TopicProduceData topic = topic("t", topics.namedOrNull("t").id(), partition(2, 5), partition(0, 1));

        answer(version, ALL, topic);
        ProduceResponseData response = answer(version, ALL, topic);

        assertThat(response.responses()).hasSize(1);
        assertThat(response.responses().iterator().next().partitionResponses())
                .containsExactly(acknowledged(2, 5, version), acknowledged(0, 1, version));
    }

    @ParameterizedTest
    @MethodSource("versions")
    void shouldTellEachErrorWhenRequestNamesUnknownOnesInVersion(short version) {
        TopicProduceData noSuchPartition = topic("t", topics.namedOrNull("t").id(), partition(3, 1));
        TopicProduceData noSuchTopic = topic("u", Uuid.randomUuid(), partition(0, 1));

        ProduceResponseData response = answer(version, ALL, noSuchPartition, noSuchTopic);

        Errors forTopic = version < 13 ? Errors.UNKNOWN_TOPIC_OR_PARTITION : Errors.UNKNOWN_TOPIC_ID;
        assertThat(response.responses())
                .extracting(StubProduceTest::onlyPartition)
                .containsExactly(refused(3, Errors.UNKNOWN_TOPIC_OR_PARTITION, version), refused(0, forTopic, version));
    }

    @Test
    void shouldSkipRecordsWhenThereAreNone() {
        PartitionProduceData empty = new PartitionProduceData().setIndex(1).setRecords(null);

        ProduceResponseData response = answer((short) 9, ALL, topic("t", Uuid.ZERO_UUID, empty));

        assertThat(onlyPartition(response.responses().iterator().next())).isEqualTo(acknowledged(1, 0, (short) 9));
    }

    @Test
    void shouldStaySilentButCountWhenNoAcknowledgementIsWanted() {
        TopicProduceData topic = topic("t", Uuid.ZERO_UUID, partition(1, 4));

        var silence = produce.answer(request((short) 9, (short) 0, topic), (short) 9);

        assertThat(silence).isEmpty();
        assertThat(onlyPartition(
                        answer((short) 9, ALL, topic).responses().iterator().next()))
                .isEqualTo(acknowledged(1, 4, (short) 9));
    }

    private ProduceResponseData answer(short version, short acks, TopicProduceData... topicData) {
        ByteBuffer response =
                produce.answer(request(version, acks, topicData), version).orElseThrow();
        assertThat(response.getInt()).isEqualTo(response.remaining());
        ByteBufferAccessor readable = new ByteBufferAccessor(response);
        short headerVersion = ApiMessageType.PRODUCE.responseHeaderVersion(version);
        assertThat(new ResponseHeaderData(readable, headerVersion).correlationId())
                .isEqualTo(CORRELATION_ID);
        ProduceResponseData data = new ProduceResponseData(readable, version);
        assertThat(response.hasRemaining()).isFalse();
        return data;
    }

    private static ByteBuffer request(short version, short acks, TopicProduceData... topicData) {
        RequestHeaderData header = new RequestHeaderData()
                .setRequestApiKey(ApiMessageType.PRODUCE.apiKey())
                .setRequestApiVersion(version)
                .setCorrelationId(CORRELATION_ID)
                .setClientId("client");
        ProduceRequestData request = new ProduceRequestData().setAcks(acks).setTimeoutMs(1000);
        for (TopicProduceData topic : topicData) {
            request.topicData().add(topic.duplicate());
        }
        ObjectSerializationCache cache = new ObjectSerializationCache();
        short headerVersion = ApiMessageType.PRODUCE.requestHeaderVersion(version);
        int size = header.size(cache, headerVersion) + request.size(cache, version);
        ByteBufferAccessor writable = new ByteBufferAccessor(ByteBuffer.allocate(size));
        header.write(writable, cache, headerVersion);
        request.write(writable, cache, version);
        return writable.buffer().flip();
    }

    private static TopicProduceData topic(String name, Uuid id, PartitionProduceData... partitions) {
        return new TopicProduceData().setName(name).setTopicId(id).setPartitionData(List.of(partitions));
    }

    private static PartitionProduceData partition(int index, int records) {
        SimpleRecord[] batch = IntStream.range(0, records)
                .mapToObj(i -> new SimpleRecord(new byte[10]))
                .toArray(SimpleRecord[]::new);
        return new PartitionProduceData()
                .setIndex(index)
                .setRecords(MemoryRecords.withRecords(Compression.NONE, batch));
    }

    private static PartitionProduceResponse onlyPartition(TopicProduceResponse topic) {
        assertThat(topic.partitionResponses()).hasSize(1);
        return topic.partitionResponses().get(0);
    }

    private static PartitionProduceResponse acknowledged(int partition, long offset, short version) {
        return new PartitionProduceResponse()
                .setIndex(partition)
                .setBaseOffset(offset)
                .setLogStartOffset(version < 5 ? -1 : 0);
    }

    private static PartitionProduceResponse refused(int partition, Errors error, short version) {
        return acknowledged(partition, -1, version).setErrorCode(error.code());
    }
}
