package dev.millrace.jmh;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.apache.kafka.clients.ClientRequest;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.clients.KafkaClient;
import org.apache.kafka.clients.LeastLoadedNode;
import org.apache.kafka.clients.RequestCompletionHandler;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.message.InitProducerIdResponseData;
import org.apache.kafka.common.message.ProduceRequestData.PartitionProduceData;
import org.apache.kafka.common.message.ProduceRequestData.TopicProduceData;
import org.apache.kafka.common.message.ProduceResponseData;
import org.apache.kafka.common.message.ProduceResponseData.PartitionProduceResponse;
import org.apache.kafka.common.message.ProduceResponseData.TopicProduceResponse;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.InitProducerIdRequest;
import org.apache.kafka.common.requests.InitProducerIdResponse;
import org.apache.kafka.common.requests.MetadataRequest;
import org.apache.kafka.common.requests.MetadataResponse;
import org.apache.kafka.common.requests.ProduceRequest;
import org.apache.kafka.common.requests.ProduceResponse;

/**
 * A {@code KafkaClient} without a network: its one broker is always connected and answers in the next {@link #poll}.
 * Requests are built, but not serialized.
 *
 * <p><b>Threads:</b> the I/O thread; any thread may call {@link #wakeup}.
 */
public final class InstantClient implements KafkaClient {
    /** Of all requests. */
    public static final String CLIENT_ID = "instant";
    /** A broker with so many unanswered requests is not ready. */
    public static final int MAX_IN_FLIGHT = 5;
    /** The distance from the base offset of an acknowledged batch to that of the next. */
    public static final long OFFSETS_PER_BATCH = 1 << 23;

    private static final Node BROKER = new Node(KafkaMetadata.BROKER, "localhost", 9092);

    private final MetadataResponse metadata;
    private final Queue<ClientRequest> requests = new ArrayDeque<>();
    private final PollWait wait = new PollWait();
    private int correlationId;
    private long nextOffset;
    private volatile boolean closed;

    /** A client of a cluster with these topics. */
    public InstantClient(List<String> topics, int partitions) {
        this.metadata = KafkaMetadata.response(topics, partitions);
    }

    /** The metadata that the broker returns. */
    public MetadataResponse metadata() {
        return metadata;
    }

    @Override
    public void send(ClientRequest request, long now) {
        requests.add(request);
    }

    @Override
    public List<ClientResponse> poll(long timeout, long now) {
        wait.await(requests.isEmpty() ? timeout : 0);
        List<ClientResponse> responses = new ArrayList<>(requests.size());
        for (ClientRequest request = requests.poll(); request != null; request = requests.poll()) {
            responses.add(response(request, now));
        }
        responses.forEach(ClientResponse::onComplete);
        return responses;
    }

    @Override
    public void wakeup() {
        wait.wakeup();
    }

    private ClientResponse response(ClientRequest request, long now) {
        AbstractRequest built = request.requestBuilder().build();
        return new ClientResponse(
                request.makeHeader(built.version()),
                request.callback(),
                request.destination(),
                request.createdTimeMs(),
                now,
                false,
                null,
                null,
                answer(built));
    }

    private AbstractResponse answer(AbstractRequest request) {
        if (request instanceof ProduceRequest produce) {
            return answer(produce);
        } else if (request instanceof InitProducerIdRequest) {
            return new InitProducerIdResponse(
                    new InitProducerIdResponseData().setProducerId(1).setProducerEpoch((short) 0));
        } else if (request instanceof MetadataRequest) {
            return metadata;
        }
        throw new IllegalStateException("No answer to " + request.apiKey());
    }

    private ProduceResponse answer(ProduceRequest request) {
        ProduceResponseData answer = new ProduceResponseData();
        for (TopicProduceData topic : request.data().topicData()) {
            TopicProduceResponse topicAnswer =
                    new TopicProduceResponse().setName(topic.name()).setTopicId(topic.topicId());
            for (PartitionProduceData partition : topic.partitionData()) {
                nextOffset += OFFSETS_PER_BATCH;
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
    public ClientRequest newClientRequest(
            String nodeId, AbstractRequest.Builder<?> requestBuilder, long createdTimeMs, boolean expectResponse) {
        return newClientRequest(nodeId, requestBuilder, createdTimeMs, expectResponse, Integer.MAX_VALUE, null);
    }

    @Override
    public ClientRequest newClientRequest(
            String nodeId,
            AbstractRequest.Builder<?> requestBuilder,
            long createdTimeMs,
            boolean expectResponse,
            int requestTimeoutMs,
            RequestCompletionHandler callback) {
        return new ClientRequest(
                nodeId,
                requestBuilder,
                correlationId++,
                CLIENT_ID,
                createdTimeMs,
                expectResponse,
                requestTimeoutMs,
                callback);
    }

    @Override
    public boolean isReady(Node node, long now) {
        return requests.size() < MAX_IN_FLIGHT;
    }

    @Override
    public boolean ready(Node node, long now) {
        return isReady(node, now);
    }

    @Override
    public LeastLoadedNode leastLoadedNode(long now) {
        return new LeastLoadedNode(BROKER, true);
    }

    @Override
    public long connectionDelay(Node node, long now) {
        return 0;
    }

    @Override
    public long pollDelayMs(Node node, long now) {
        return isReady(node, now) ? 0 : Long.MAX_VALUE;
    }

    @Override
    public boolean connectionFailed(Node node) {
        return false;
    }

    @Override
    public AuthenticationException authenticationException(Node node) {
        return null;
    }

    @Override
    public int inFlightRequestCount() {
        return requests.size();
    }

    @Override
    public boolean hasInFlightRequests() {
        return !requests.isEmpty();
    }

    @Override
    public int inFlightRequestCount(String nodeId) {
        return requests.size();
    }

    @Override
    public boolean hasInFlightRequests(String nodeId) {
        return !requests.isEmpty();
    }

    @Override
    public boolean hasReadyNodes(long now) {
        return true;
    }

    @Override
    public boolean active() {
        return !closed;
    }

    @Override
    public void initiateClose() {
        closed = true;
    }

    @Override
    public void close() {
        closed = true;
    }

    @Override
    public void disconnect(String nodeId) {}

    @Override
    public void close(String nodeId) {}
}
