package dev.millrace.client.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.io.BrokerLink.MetadataHandler;
import dev.millrace.client.io.BrokerLink.ProduceAnswer;
import dev.millrace.client.io.BrokerLink.ProducerIdHandler;
import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.testkit.stub.ScriptedBroker.Request;
import java.io.EOFException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.LeaderNotAvailableException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownServerException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.InitProducerIdRequestData;
import org.apache.kafka.common.message.InitProducerIdResponseData;
import org.apache.kafka.common.message.MetadataRequestData;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponseBroker;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponsePartition;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponseTopic;
import org.apache.kafka.common.message.ProduceRequestData;
import org.apache.kafka.common.message.ProduceResponseData;
import org.apache.kafka.common.message.ProduceResponseData.PartitionProduceResponse;
import org.apache.kafka.common.message.ProduceResponseData.TopicProduceResponse;
import org.apache.kafka.common.protocol.Errors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a link tells of each request, whatever becomes of it. The broker is scripted, the connections are real. */
@Timeout(120)
class NetworkBrokerLinkTest {
    private static final Uuid TOPIC_ID = new Uuid(1, 1);
    private static final ClusterImage IMAGE = FinishedBatches.image(FinishedBatches.topic("t", TOPIC_ID));

    private final FinishedBatches batches = new FinishedBatches("t");
    private final List<ProduceAnswer> answers = new ArrayList<>();
    private final List<AuthenticationException> disconnects = new ArrayList<>();

    @Test
    void shouldTellTheAnswerToAProduceRequest() {
        try (LinkFixture fixture = fixture("acks", "1", "request.timeout.ms", 34_567)) {
            fixture.on(ApiMessageType.PRODUCE, request -> accepted(42));
            fixture.connect();
            FinishedBatch batch = batches.of("t", 2);

            produce(fixture, batch);

            assertThat(fixture.link.inFlightRequests(1)).isEqualTo(1);
            assertThat(fixture.link.inFlightRequests(2)).isZero();
            assertThat(fixture.metric("requests-in-flight")).isEqualTo(1);
            fixture.pollUntil(() -> !answers.isEmpty());
            assertThat(answers).containsExactly(new ProduceAnswer(batch, null, 42, -1));
            assertThat(fixture.link.inFlightRequests(1)).isZero();
            ProduceRequestData sent =
                    (ProduceRequestData) only(fixture, ApiMessageType.PRODUCE).body();
            assertThat(sent.acks()).isEqualTo((short) 1);
            assertThat(sent.timeoutMs()).isEqualTo(34_567);
            assertThat(fixture.metric("request-latency-max")).isNotNaN();
            assertThat(disconnects).isEmpty();
        }
    }

    @Test
    void shouldWaitForNoAnswerWhenAcksAreZero() {
        try (LinkFixture fixture = fixture("acks", "0", "enable.idempotence", false)) {
            fixture.on(ApiMessageType.PRODUCE, request -> null);
            fixture.connect();
            FinishedBatch batch = batches.of("t", 0);

            produce(fixture, batch);
            fixture.pollUntil(() -> !answers.isEmpty());

            assertThat(answers).containsExactly(new ProduceAnswer(batch, null, -1, -1));
            assertThat(fixture.link.inFlightRequests(1)).isZero();
            assertThat(fixture.metric("request-latency-max")).isNaN();
            fixture.pollUntil(
                    () -> !fixture.broker.received(ApiMessageType.PRODUCE).isEmpty());
        }
    }

    @Test
    void shouldTellThatTheConnectionWasLostBeforeTheAnswer() {
        try (LinkFixture fixture = fixture()) {
            fixture.on(ApiMessageType.PRODUCE, request -> {
                throw new EOFException();
            });
            fixture.connect();

            produce(fixture, batches.of("t", 0));
            fixture.pollUntil(() -> !answers.isEmpty());

            assertOneError(NetworkException.class);
            assertThat(disconnects).hasSize(1).containsOnlyNulls();
            assertThat(fixture.link.inFlightRequests(1)).isZero();
        }
    }

    /** The network client throws then, and has forgotten the request. */
    @Test
    void shouldTellThatTheConnectionWasLostWhenAnAnswerCannotBeRead() {
        try (LinkFixture fixture = fixture()) {
            // given
            fixture.on(ApiMessageType.PRODUCE, request -> accepted(7));
            fixture.connect();
            List<byte[]> truncated = new ArrayList<>();
            fixture.onTheWire((request, answer, out) -> {
                byte[] start = Arrays.copyOf(answer, answer.length - 3);
                ByteBuffer.wrap(start).putInt(0, start.length - Integer.BYTES);
                truncated.add(start);
                if (truncated.size() == 2) { // both are in flight
                    out.write(truncated.get(0));
                    out.write(truncated.get(1));
                }
            });
            FinishedBatch first = batches.of("t", 0);
            FinishedBatch second = batches.of("t", 1);

            // when
            produce(fixture, first);
            fixture.connect();
            produce(fixture, second);
            fixture.pollUntil(() -> answers.size() == 2);

            // then
            assertThat(answers).extracting(ProduceAnswer::batch).containsExactly(first, second);
            assertThat(answers).extracting(ProduceAnswer::error).hasOnlyElementsOfType(NetworkException.class);
            assertThat(fixture.link.inFlightRequests(1)).isZero();
            assertThat(disconnects).hasSize(1).containsOnlyNulls();
            fixture.onTheWire((request, answer, out) -> out.write(answer));
            fixture.connect();
            FinishedBatch next = batches.of("t", 2);
            produce(fixture, next);
            fixture.pollUntil(() -> answers.size() > 2);
            assertThat(answers.subList(2, answers.size())).containsExactly(new ProduceAnswer(next, null, 7, -1));
        }
    }

    @Test
    void shouldTellThatTheAnswerIsLateAndIgnoreItWhenItComes() {
        CountDownLatch late = new CountDownLatch(1);
        AtomicBoolean isFirst = new AtomicBoolean(true);
        try (LinkFixture fixture = fixture("request.timeout.ms", 5000)) {
            // given
            fixture.on(ApiMessageType.PRODUCE, request -> {
                if (!isFirst.getAndSet(false)) {
                    return accepted(2);
                }
                try {
                    late.await();
                } catch (InterruptedException e) {
                    throw new EOFException();
                }
                return accepted(1);
            });
            fixture.connect();

            // when
            produce(fixture, batches.of("t", 0));
            fixture.pollUntil(() -> !answers.isEmpty());

            // then
            assertOneError(TimeoutException.class);
            assertThat(disconnects).hasSize(1);
            late.countDown();
            fixture.connect();
            FinishedBatch next = batches.of("t", 1);
            produce(fixture, next);
            fixture.pollUntil(() -> answers.size() > 1);
            assertThat(answers.subList(1, answers.size())).containsExactly(new ProduceAnswer(next, null, 2, -1));
        }
    }

    @Test
    void shouldTellOfRequestsWithoutAnswerWhenAllConnectionsAreClosed() {
        try (LinkFixture fixture = fixture()) {
            fixture.link.disconnectAll();
            fixture.on(ApiMessageType.PRODUCE, request -> null);
            fixture.connect();
            produce(fixture, batches.of("t", 0));

            fixture.link.disconnectAll();
            fixture.pollUntil(() -> !answers.isEmpty());

            assertOneError(NetworkException.class);
            fixture.connect();
        }
    }

    @Test
    void shouldTellNothingMoreWhenClosedInFlight() {
        LinkFixture fixture = fixture();
        fixture.on(ApiMessageType.PRODUCE, request -> null);
        fixture.connect();
        produce(fixture, batches.of("t", 0));

        fixture.close();

        assertThat(answers).isEmpty();
        fixture.link.wakeup();
    }

    /** No request is sent in the dark: what the broker does not serve is told without asking it. */
    @Test
    void shouldTellThatTheBrokerIsTooOldForTheRequest() {
        try (LinkFixture fixture = fixture()) {
            fixture.connect();
            ProducerIds ids = new ProducerIds();

            produce(fixture, batches.of("t", 0));
            fixture.link.initProducerId(fixture.node, ids, fixture.nowMs());
            fixture.pollUntil(() -> !answers.isEmpty() && !ids.told.isEmpty());

            assertOneError(UnsupportedVersionException.class);
            assertThat(ids.told).singleElement().isInstanceOf(UnsupportedVersionException.class);
            assertThat(fixture.broker.received(ApiMessageType.PRODUCE)).isEmpty();
            fixture.connect();
            assertThat(disconnects).isEmpty();
        }
    }

    @Test
    void shouldLeaveTheBrokerAloneWhileItThrottles() {
        try (LinkFixture fixture = fixture()) {
            fixture.on(ApiMessageType.PRODUCE, request -> accepted(0).setThrottleTimeMs(3_600_000));
            fixture.connect();

            produce(fixture, batches.of("t", 0));
            fixture.pollUntil(() -> !answers.isEmpty());

            assertThat(answers.get(0).error()).isNull();
            assertThat(fixture.link.ready(fixture.node, fixture.nowMs())).isFalse();
            assertThat(fixture.link.pollDelayMs(fixture.node, fixture.nowMs())).isBetween(1L, 3_600_000L);
            assertThat(fixture.link.canReachAny(fixture.nowMs())).isTrue();
            assertThat(fixture.metric("produce-throttle-time-max")).isEqualTo(3_600_000);
        }
    }

    /** The I/O thread must not go on when it is unknown what became of a batch. */
    @Test
    void shouldThrowInPollWhatAHandlerThrows() {
        try (LinkFixture fixture = fixture()) {
            fixture.on(ApiMessageType.PRODUCE, request -> accepted(0));
            fixture.connect();
            Error thrown = new AssertionError("of the handler");

            fixture.link.produce(
                    fixture.node,
                    List.of(batches.of("t", 0)),
                    IMAGE,
                    (told, leaders, endpoints) -> {
                        throw thrown;
                    },
                    fixture.nowMs());

            assertThatThrownBy(() -> fixture.pollUntil(() -> false))
                    .isInstanceOf(IllegalStateException.class)
                    .hasCause(thrown);
        }
    }

    @Test
    void shouldTellTheProducerId() {
        try (LinkFixture fixture = fixture()) {
            fixture.on(
                    ApiMessageType.INIT_PRODUCER_ID,
                    request ->
                            new InitProducerIdResponseData().setProducerId(77).setProducerEpoch((short) 3));

            assertThat(initProducerId(fixture)).containsExactly("77/3");
            InitProducerIdRequestData sent = (InitProducerIdRequestData)
                    only(fixture, ApiMessageType.INIT_PRODUCER_ID).body();
            assertThat(sent.transactionalId()).isNull();
            assertThat(sent.producerId()).isEqualTo(-1);
        }
    }

    @Test
    void shouldTellWhyThereIsNoProducerId() {
        try (LinkFixture fixture = fixture()) {
            short[] code = {Errors.CLUSTER_AUTHORIZATION_FAILED.code()};
            fixture.on(ApiMessageType.INIT_PRODUCER_ID, request -> {
                if (code[0] == 0) {
                    throw new EOFException();
                }
                return new InitProducerIdResponseData().setProducerId(77).setErrorCode(code[0]);
            });

            assertThat(initProducerId(fixture)).singleElement().isInstanceOf(ClusterAuthorizationException.class);
            code[0] = 30_000;
            assertThat(initProducerId(fixture)).singleElement().isInstanceOf(UnknownServerException.class);
            code[0] = 0;
            assertThat(initProducerId(fixture)).singleElement().isInstanceOf(NetworkException.class);
        }
    }

    @Test
    void shouldTellMetadataAndWhatTheBrokerWantsInstead() {
        try (LinkFixture fixture = fixture()) {
            MetadataResponseData answer = new MetadataResponseData().setClusterId("c");
            answer.brokers()
                    .add(new MetadataResponseBroker()
                            .setNodeId(5)
                            .setHost("five")
                            .setPort(55));
            fixture.on(ApiMessageType.METADATA, request -> answer);

            assertThat(metadata(fixture, false)).singleElement().satisfies(told -> {
                ClusterDelta delta = (ClusterDelta) told;
                assertThat(delta.clusterId()).isEqualTo("c");
                assertThat(delta.nodes()).containsExactly(new Node(5, "five", 55));
                assertThat(delta.complete()).isFalse();
            });
            MetadataRequestData sent =
                    (MetadataRequestData) only(fixture, ApiMessageType.METADATA).body();
            assertThat(sent.topics()).extracting(topic -> topic.name()).containsExactly("a", "b");
            assertThat(sent.allowAutoTopicCreation()).isTrue();
            assertThat(((ClusterDelta) metadata(fixture, true).get(0)).complete())
                    .isTrue();

            answer.setErrorCode(Errors.REBOOTSTRAP_REQUIRED.code());
            assertThat(metadata(fixture, true)).containsExactly("rebootstrap");
            answer.setErrorCode(Errors.CLUSTER_AUTHORIZATION_FAILED.code());
            assertThat(metadata(fixture, true)).singleElement().isInstanceOf(ClusterAuthorizationException.class);
        }
    }

    /** As for the stock client, it is not there yet. */
    @Test
    void shouldTakeATopicWithoutPartitionsForOneThatIsMissing() {
        try (LinkFixture fixture = fixture()) {
            MetadataResponseData answer = new MetadataResponseData();
            answer.topics().add(new MetadataResponseTopic().setName("t"));
            fixture.on(ApiMessageType.METADATA, request -> answer);

            assertThat(metadata(fixture, true)).singleElement().satisfies(told -> {
                ClusterDelta delta = (ClusterDelta) told;
                assertThat(delta.topics()).isEmpty();
                assertThat(delta.errors().get("t")).isInstanceOf(LeaderNotAvailableException.class);
            });
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, Integer.MAX_VALUE - 1})
    void shouldTellThatTheAnswerIsLostWhenMetadataMakeNoSense(int partition) {
        try (LinkFixture fixture = fixture()) {
            MetadataResponseData answer = new MetadataResponseData();
            answer.topics()
                    .add(new MetadataResponseTopic()
                            .setName("t")
                            .setPartitions(List.of(new MetadataResponsePartition().setPartitionIndex(partition))));
            fixture.on(ApiMessageType.METADATA, request -> answer);

            assertThat(metadata(fixture, true)).singleElement().isInstanceOf(NetworkException.class);
        }
    }

    /** The partitions of the others go on. */
    @Test
    void shouldLeaveOutBrokersToWhichNobodyCanConnect() {
        try (LinkFixture fixture = fixture()) {
            MetadataResponseData answer = new MetadataResponseData();
            int id = 0;
            for (int port : new int[] {-1, 0, 1, 65_535, 65_536}) {
                answer.brokers()
                        .add(new MetadataResponseBroker()
                                .setNodeId(id++)
                                .setHost("host")
                                .setPort(port));
            }
            answer.brokers()
                    .add(new MetadataResponseBroker().setNodeId(id).setHost("").setPort(1));
            fixture.on(ApiMessageType.METADATA, request -> answer);

            assertThat(metadata(fixture, true))
                    .singleElement()
                    .satisfies(told -> assertThat(((ClusterDelta) told).nodes())
                            .containsExactlyInAnyOrder(new Node(2, "host", 1), new Node(3, "host", 65_535)));
        }
    }

    @Test
    void shouldHaveTransactionsWithAnIdOnly() {
        try (LinkFixture without = fixture();
                LinkFixture with = fixture("transactional.id", "transfers")) {
            assertThat(without.link.transactions()).isEmpty();
            assertThat(with.link.transactions()).isPresent();
        }
    }

    private LinkFixture fixture(Object... configs) {
        LinkFixture fixture = new LinkFixture(0, configs);
        fixture.link.onDisconnect((refusal, node) -> disconnects.add(refusal));
        return fixture;
    }

    private void produce(LinkFixture fixture, FinishedBatch batch) {
        fixture.link.produce(
                fixture.node,
                List.of(batch),
                IMAGE,
                (told, leaders, endpoints) -> answers.addAll(told),
                fixture.nowMs());
    }

    private static List<Object> initProducerId(LinkFixture fixture) {
        ProducerIds ids = new ProducerIds();
        fixture.connect();
        fixture.link.initProducerId(fixture.node, ids, fixture.nowMs());
        fixture.pollUntil(() -> !ids.told.isEmpty());
        return ids.told;
    }

    private static List<Object> metadata(LinkFixture fixture, boolean complete) {
        List<Object> told = new ArrayList<>();
        fixture.connect();
        fixture.link.metadata(
                fixture.node,
                List.of("a", "b"),
                true,
                complete,
                new MetadataHandler() {
                    @Override
                    public void onMetadata(ClusterDelta delta) {
                        told.add(delta);
                    }

                    @Override
                    public void onRebootstrapRequired() {
                        told.add("rebootstrap");
                    }

                    @Override
                    public void onError(KafkaException error) {
                        told.add(error);
                    }
                },
                fixture.nowMs());
        fixture.pollUntil(() -> !told.isEmpty());
        return told;
    }

    private void assertOneError(Class<? extends KafkaException> expected) {
        assertThat(answers).singleElement().satisfies(answer -> {
            assertThat(answer.error()).isExactlyInstanceOf(expected);
            assertThat(answer.baseOffset()).isEqualTo(-1);
        });
    }

    private static Request only(LinkFixture fixture, ApiMessageType type) {
        assertThat(fixture.broker.received(type)).hasSize(1);
        return fixture.broker.received(type).get(0);
    }

    private static ProduceResponseData accepted(long offset) {
        ProduceResponseData data = new ProduceResponseData();
        TopicProduceResponse topic = new TopicProduceResponse().setTopicId(TOPIC_ID);
        for (int partition = 0; partition < 3; partition++) {
            topic.partitionResponses()
                    .add(new PartitionProduceResponse().setIndex(partition).setBaseOffset(offset));
        }
        data.responses().add(topic);
        return data;
    }

    /** Remembers what it is told. */
    private static final class ProducerIds implements ProducerIdHandler {
        private final List<Object> told = new ArrayList<>();

        @Override
        public void onProducerId(long producerId, short epoch) {
            told.add(producerId + "/" + epoch);
        }

        @Override
        public void onError(KafkaException error) {
            told.add(error);
        }
    }
}
