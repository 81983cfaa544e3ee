package dev.millrace.client.kafka;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.io.BrokerLink;
import dev.millrace.client.io.ProducerId;
import dev.millrace.client.io.TransactionLink;
import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.kafka.clients.ApiVersions;
import dev.millrace.kafka.clients.ClientUtils;
import dev.millrace.kafka.clients.DefaultHostResolver;
import dev.millrace.kafka.clients.NetworkClient;
import dev.millrace.kafka.clients.RequestCompletionHandler;
import dev.millrace.kafka.common.message.InitProducerIdRequestData;
import dev.millrace.kafka.common.protocol.Errors;
import dev.millrace.kafka.common.requests.AbstractRequest;
import dev.millrace.kafka.common.requests.InitProducerIdRequest;
import dev.millrace.kafka.common.requests.InitProducerIdResponse;
import dev.millrace.kafka.common.utils.internals.LogContext;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.IntSupplier;
import java.util.function.ObjIntConsumer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.AuthenticationException;

/**
 * Implements {@link BrokerLink} on kafka-clients' {@link NetworkClient}, which handles TLS, SASL, protocol versions and
 * time-outs.
 *
 * <p><b>Threads:</b> its I/O thread; any thread may call {@code wakeup}.
 */
final class NetworkBrokerLink implements BrokerLink {
    private static final String METRIC_GROUP = "producer";

    private final BrokerConnections connections;
    private final NetworkClient client;
    private final KafkaBridge kafka;
    private final ProducerSensors sensors;
    private final IntSupplier requestsInFlight = this::inFlightRequests;
    private final int requestTimeoutMs;
    private final short acks;
    private final boolean pushesTelemetry;
    private final TransactionProtocol protocol;
    private final TransactionRequests transactions;

    NetworkBrokerLink(ProducerConfig config, KafkaBridge kafka, ClusterImages images, int ioThread) {
        this.kafka = kafka;
        this.sensors = kafka.sensors();
        this.protocol = kafka.transactionProtocol();
        this.pushesTelemetry = ioThread == 0;
        ApiVersions versions = new ApiVersions();
        this.requestTimeoutMs = config.getInt(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG);
        this.acks = Short.parseShort(config.getString(ProducerConfig.ACKS_CONFIG));
        String clientId = config.getString(ProducerConfig.CLIENT_ID_CONFIG);
        this.connections = new BrokerConnections(
                images,
                requestTimeoutMs,
                nodes -> ClientUtils.createNetworkClient(
                        config,
                        config.getList(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG),
                        clientId,
                        kafka.metricsRegistry(),
                        ioThread == 0
                                ? METRIC_GROUP
                                : METRIC_GROUP + "-io-" + ioThread, // two selectors cannot share metrics
                        new LogContext("[Producer clientId=" + clientId + "] "),
                        versions,
                        kafka.time(),
                        config.getInt(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION),
                        requestTimeoutMs,
                        null,
                        nodes,
                        new DefaultHostResolver(),
                        sensors.throttleTime(),
                        pushesTelemetry ? kafka.telemetry().sender() : null));
        this.client = connections.client();
        sensors.addInFlight(requestsInFlight);
        this.transactions = new TransactionRequests(this, client, versions, protocol);
    }

    @Override
    public void onDisconnect(ObjIntConsumer<AuthenticationException> listener) {
        connections.onDisconnect(listener);
    }

    @Override
    public void onRebootstrapRequired(Runnable listener) {
        connections.onRebootstrapRequired(listener);
    }

    @Override
    public boolean ready(Node node, long nowMs) {
        return connections.ready(node, nowMs);
    }

    @Override
    public long pollDelayMs(Node node, long nowMs) {
        return client.pollDelayMs(node, nowMs);
    }

    @Override
    public Node leastLoadedNode(long nowMs) {
        return connections.leastLoadedNode(nowMs);
    }

    @Override
    public boolean canReachAny(long nowMs) {
        return connections.canReachAny(nowMs);
    }

    @Override
    public void disconnectAll() {
        connections.disconnectAll();
    }

    @Override
    public void produce(
            Node node, List<FinishedBatch> batches, ClusterImage image, ProduceHandler handler, long nowMs) {
        ProduceExchange exchange = new ProduceExchange(batches, image);
        sensors.onRequest(batches, nowMs);
        send(node, exchange.request(acks, requestTimeoutMs, protocol), acks != 0, nowMs, response -> {
            if (response.hasResponse()) {
                sensors.onLatency(response.destination(), response.requestLatencyMs());
            }
            exchange.handleResponse(response, handler);
        });
    }

    @Override
    public void describeProducers(Node leader, List<ProducerQuestion> questions, ProducersHandler handler, long nowMs) {
        new ProducerDescription(leader, questions, handler).ask(connections, nowMs);
    }

    @Override
    public void initProducerId(Node node, ProducerIdHandler handler, long nowMs) {
        InitProducerIdRequestData data =
                new InitProducerIdRequestData().setTransactionalId(null).setTransactionTimeoutMs(Integer.MAX_VALUE);
        send(node, new InitProducerIdRequest.Builder(data), true, nowMs, response -> {
            KafkaException failure = BrokerConnections.failureOrNull(response);
            if (failure != null) {
                handler.onError(failure);
                return;
            }
            InitProducerIdResponse answer = (InitProducerIdResponse) response.responseBody();
            if (answer.error() == Errors.NONE) {
                ProducerId given = TransactionRequests.given(
                        answer.data().producerId(), answer.data().producerEpoch());
                handler.onProducerId(given.id(), given.epoch());
            } else {
                handler.onError(answer.error().exception());
            }
        });
    }

    @Override
    public void metadata(
            Node node,
            Collection<String> topics,
            boolean mayCreate,
            boolean complete,
            MetadataHandler handler,
            long nowMs) {
        connections.metadata(
                node,
                topics,
                mayCreate,
                complete,
                new MetadataHandler() {
                    @Override
                    public void onMetadata(ClusterDelta delta) {
                        if (!delta.nodes().isEmpty()) { // before a thread that waits for a topic serializes for it
                            kafka.onClusterId(delta.clusterId());
                        }
                        handler.onMetadata(delta);
                    }

                    @Override
                    public void onRebootstrapRequired() {
                        handler.onRebootstrapRequired();
                    }

                    @Override
                    public void onError(KafkaException error) {
                        handler.onError(error);
                    }
                },
                nowMs);
    }

    void send(
            Node node,
            AbstractRequest.Builder<?> request,
            boolean expectResponse,
            long nowMs,
            RequestCompletionHandler handler) {
        connections.send(node, request, expectResponse, nowMs, handler);
    }

    @Override
    public Optional<TransactionLink> transactions() {
        return protocol.transactionalId() == null ? Optional.empty() : Optional.of(transactions);
    }

    @Override
    public int inFlightRequests(int node) {
        return client.inFlightRequestCount(Integer.toString(node));
    }

    @Override
    public void poll(long timeoutMs, long nowMs) {
        connections.poll(timeoutMs, nowMs);
    }

    private int inFlightRequests() {
        return client.inFlightRequestCount();
    }

    @Override
    public boolean isQuiet(long nowMs) {
        Telemetry telemetry = kafka.telemetry();
        boolean expectsResponse = telemetry.isClosing(nowMs) && client.inFlightRequestCount() > 0;
        return !expectsResponse && !(pushesTelemetry && telemetry.hasLastPush(nowMs) && client.hasReadyNodes(nowMs));
    }

    @Override
    public void wakeup() {
        connections.wakeup();
    }

    @Override
    public void close() {
        connections.close();
        sensors.removeInFlight(requestsInFlight);
    }
}
