package dev.millrace.client.kafka;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.io.BrokerLink;
import dev.millrace.client.metadata.ClusterImage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.apache.kafka.clients.KafkaClient;
import org.apache.kafka.clients.RequestCompletionHandler;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.message.InitProducerIdRequestData;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.InitProducerIdRequest;
import org.apache.kafka.common.requests.InitProducerIdResponse;
import org.apache.kafka.common.requests.MetadataRequest;
import org.apache.kafka.common.requests.MetadataResponse;

/**
 * A broker link for benchmarks: connects our I/O thread to a network client that never fails, the same that the stock
 * {@code Sender} gets, with the requests, responses and metrics of {@link NetworkBrokerLink}.
 *
 * <p><b>Threads:</b> as {@link BrokerLink}.
 */
public final class InstantLink implements BrokerLink {
    private static final short ACKS_ALL = -1;
    private static final int REQUEST_TIMEOUT_MS = 30_000;

    private final KafkaClient client;
    private final KafkaBridge kafka;
    private final TransactionProtocol protocol;

    /** A link for a producer with {@code acks=all} and without transactions. */
    public InstantLink(ProducerConfig config, KafkaBridge kafka, KafkaClient client) {
        this.client = client;
        this.kafka = kafka;
        this.protocol = new TransactionProtocol(config);
    }

    @Override
    public void produce(
            Node node, List<FinishedBatch> batches, ClusterImage image, ProduceHandler handler, long nowMs) {
        ProduceExchange exchange = new ProduceExchange(batches, image);
        kafka.sensors().onRequest(batches, nowMs);
        send(node, exchange.request(ACKS_ALL, REQUEST_TIMEOUT_MS, protocol), nowMs, response -> {
            kafka.sensors().onLatency(response.destination(), response.requestLatencyMs());
            exchange.answer(response, handler);
        });
    }

    @Override
    public void initProducerId(Node node, ProducerIdHandler handler, long nowMs) {
        InitProducerIdRequestData data =
                new InitProducerIdRequestData().setTransactionalId(null).setTransactionTimeoutMs(Integer.MAX_VALUE);
        send(node, new InitProducerIdRequest.Builder(data), nowMs, response -> {
            InitProducerIdResponse answer = (InitProducerIdResponse) response.responseBody();
            handler.onProducerId(answer.data().producerId(), answer.data().producerEpoch());
        });
    }

    @Override
    public void metadata(Node node, Collection<String> topics, boolean complete, MetadataHandler handler, long nowMs) {
        send(
                node,
                MetadataRequest.Builder.forTopicNames(new ArrayList<>(topics), true),
                nowMs,
                response ->
                        handler.onMetadata(MetadataAnswer.delta((MetadataResponse) response.responseBody(), complete)));
    }

    private void send(Node node, AbstractRequest.Builder<?> request, long nowMs, RequestCompletionHandler handler) {
        client.send(client.newClientRequest(node.idString(), request, nowMs, true, REQUEST_TIMEOUT_MS, handler), nowMs);
    }

    @Override
    public boolean ready(Node node, long nowMs) {
        return client.ready(node, nowMs);
    }

    @Override
    public long pollDelayMs(Node node, long nowMs) {
        return client.pollDelayMs(node, nowMs);
    }

    @Override
    public Node leastLoadedNode(long nowMs) {
        return client.leastLoadedNode(nowMs).node();
    }

    @Override
    public boolean canReachAny(long nowMs) {
        return true;
    }

    @Override
    public int inFlightRequests(int node) {
        return client.inFlightRequestCount();
    }

    @Override
    public void poll(long timeoutMs, long nowMs) {
        client.poll(timeoutMs, nowMs);
    }

    @Override
    public void wakeup() {
        client.wakeup();
    }

    @Override
    public void onDisconnect(Consumer<AuthenticationException> listener) {
        Objects.requireNonNull(listener); // a connection is never lost
    }

    @Override
    public void disconnectAll() {}

    @Override
    public void close() {
        client.initiateClose();
    }
}
