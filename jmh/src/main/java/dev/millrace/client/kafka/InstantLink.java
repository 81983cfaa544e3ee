package dev.millrace.client.kafka;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.io.BrokerLink;
import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.jmh.InstantClient;
import dev.millrace.jmh.MillraceMetadata;
import dev.millrace.jmh.PollWait;
import dev.millrace.kafka.clients.ClientRequest;
import dev.millrace.kafka.clients.ClientResponse;
import dev.millrace.kafka.common.message.ProduceRequestData.PartitionProduceData;
import dev.millrace.kafka.common.message.ProduceRequestData.TopicProduceData;
import dev.millrace.kafka.common.message.ProduceResponseData;
import dev.millrace.kafka.common.message.ProduceResponseData.PartitionProduceResponse;
import dev.millrace.kafka.common.message.ProduceResponseData.TopicProduceResponse;
import dev.millrace.kafka.common.requests.ProduceRequest;
import dev.millrace.kafka.common.requests.ProduceResponse;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.function.LongConsumer;
import java.util.function.ObjIntConsumer;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.AuthenticationException;

/**
 * A broker link without a network, as {@link InstantClient} is for the stock {@code Sender}: its one broker is always
 * connected and answers in the next {@link #poll}. Produce requests and responses are the objects that
 * {@link NetworkBrokerLink} makes and reads, with the same metrics, but they are not serialized.
 *
 * <p><b>Threads:</b> as {@link BrokerLink}.
 */
public final class InstantLink implements BrokerLink {
    private static final short ACKS_ALL = -1;
    private static final int REQUEST_TIMEOUT_MS = 30_000;

    private final KafkaBridge kafka;
    private final ClusterDelta metadata;
    private final Queue<LongConsumer> answers = new ArrayDeque<>();
    private final PollWait wait = new PollWait();
    private int correlationId;
    private long nextOffset;

    /** A link to a cluster with these topics, for a producer with {@code acks=all} and without transactions. */
    public InstantLink(KafkaBridge kafka, List<String> topics, int partitions) {
        this.kafka = kafka;
        this.metadata = MillraceMetadata.delta(topics, partitions);
    }

    @Override
    public void produce(
            Node node, List<FinishedBatch> batches, ClusterImage image, ProduceHandler handler, long nowMs) {
        ProduceExchange exchange = new ProduceExchange(batches, image);
        kafka.sensors().onRequest(batches, nowMs);
        ClientRequest request = new ClientRequest(
                node.idString(),
                exchange.request(ACKS_ALL, REQUEST_TIMEOUT_MS, kafka.transactionProtocol()),
                correlationId++,
                InstantClient.CLIENT_ID,
                nowMs,
                true,
                REQUEST_TIMEOUT_MS,
                response -> {
                    kafka.sensors().onLatency(response.destination(), response.requestLatencyMs());
                    exchange.handleResponse(response, handler);
                });
        answers.add(answeredMs -> response(request, answeredMs).onComplete());
    }

    private ClientResponse response(ClientRequest request, long nowMs) {
        ProduceRequest built = (ProduceRequest) request.requestBuilder().build();
        return new ClientResponse(
                request.makeHeader(built.version()),
                request.callback(),
                request.destination(),
                request.createdTimeMs(),
                nowMs,
                false,
                null,
                null,
                answer(built));
    }

    /** As {@link InstantClient} does it with the stock classes, which have other types. */
    private ProduceResponse answer(ProduceRequest request) {
        ProduceResponseData answer = new ProduceResponseData();
        for (TopicProduceData topic : request.data().topicData()) {
            TopicProduceResponse topicAnswer =
                    new TopicProduceResponse().setName(topic.name()).setTopicId(topic.topicId());
            for (PartitionProduceData partition : topic.partitionData()) {
                nextOffset += InstantClient.OFFSETS_PER_BATCH;
                topicAnswer
                        .partitionResponses()
                        .add(new PartitionProduceResponse()
                                .setIndex(partition.index())
                                .setBaseOffset(nextOffset));
            }
            answer.responses().add(topicAnswer);
        }
        return new ProduceResponse(answer);
    }

    @Override
    public void describeProducers(Node leader, List<ProducerQuestion> questions, ProducersHandler handler, long nowMs) {
        throw new UnsupportedOperationException("No answer is ever lost here");
    }

    @Override
    public void initProducerId(Node node, ProducerIdHandler handler, long nowMs) {
        answers.add(answeredMs -> handler.onProducerId(1, (short) 0));
    }

    @Override
    public void metadata(
            Node node,
            Collection<String> topics,
            boolean mayCreate,
            boolean complete,
            MetadataHandler handler,
            long nowMs) {
        answers.add(answeredMs -> handler.onMetadata(metadata));
    }

    @Override
    public boolean ready(Node node, long nowMs) {
        return answers.size() < InstantClient.MAX_IN_FLIGHT;
    }

    @Override
    public long pollDelayMs(Node node, long nowMs) {
        return ready(node, nowMs) ? 0 : Long.MAX_VALUE;
    }

    @Override
    public Node leastLoadedNode(long nowMs) {
        return metadata.nodes().get(0);
    }

    @Override
    public boolean canReachAny(long nowMs) {
        return true;
    }

    @Override
    public int inFlightRequests(int node) {
        return answers.size();
    }

    @Override
    public void poll(long timeoutMs, long nowMs) {
        wait.await(answers.isEmpty() ? timeoutMs : 0);
        for (int left = answers.size(); left > 0; left--) {
            answers.remove().accept(nowMs);
        }
    }

    @Override
    public void wakeup() {
        wait.wakeup();
    }

    @Override
    public void onDisconnect(ObjIntConsumer<AuthenticationException> listener) {
        Objects.requireNonNull(listener); // a connection is never lost
    }

    @Override
    public void disconnectAll() {}

    @Override
    public void close() {
        answers.clear();
    }
}
