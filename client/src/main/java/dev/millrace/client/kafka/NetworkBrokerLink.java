package dev.millrace.client.kafka;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.io.BrokerLink;
import dev.millrace.client.io.TransactionLink;
import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.kafka.clients.ApiVersions;
import dev.millrace.kafka.clients.ClientRequest;
import dev.millrace.kafka.clients.ClientResponse;
import dev.millrace.kafka.clients.ClientUtils;
import dev.millrace.kafka.clients.DefaultHostResolver;
import dev.millrace.kafka.clients.MetadataUpdater;
import dev.millrace.kafka.clients.NetworkClient;
import dev.millrace.kafka.clients.RequestCompletionHandler;
import dev.millrace.kafka.common.message.InitProducerIdRequestData;
import dev.millrace.kafka.common.protocol.Errors;
import dev.millrace.kafka.common.requests.AbstractRequest;
import dev.millrace.kafka.common.requests.InitProducerIdRequest;
import dev.millrace.kafka.common.requests.InitProducerIdResponse;
import dev.millrace.kafka.common.requests.MetadataRequest;
import dev.millrace.kafka.common.requests.MetadataResponse;
import dev.millrace.kafka.common.requests.RequestHeader;
import dev.millrace.kafka.common.utils.LogContext;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * {@link BrokerLink} on kafka-clients' {@link NetworkClient}, which does TLS, SASL, protocol versions and time-outs.
 *
 * <p><b>Threads:</b> its I/O thread; {@code wakeup} by any.
 */
final class NetworkBrokerLink implements BrokerLink {
    private static final String METRIC_GROUP = "producer";

    private final NetworkClient client;
    private final KafkaBridge kafka;
    private final ProducerSensors sensors;
    private final IntSupplier requestsInFlight = this::inFlightRequests;
    private final ClusterImages images;
    private final int requestTimeoutMs;
    private final short acks;
    private final boolean pushesTelemetry;
    private final TransactionProtocol protocol;
    private final TransactionRequests transactions;
    private Consumer<AuthenticationException> onDisconnect = refusal -> {};
    /** The nodes that the network client knows; it throws if told to disconnect another. */
    private final Set<String> contacted = new HashSet<>();

    private Throwable handlerFailure;

    NetworkBrokerLink(ProducerConfig config, KafkaBridge kafka, ClusterImages images, int ioThread) {
        this.kafka = kafka;
        this.sensors = kafka.sensors();
        this.protocol = kafka.transactionProtocol();
        this.pushesTelemetry = ioThread == 0;
        ApiVersions versions = new ApiVersions();
        this.images = images;
        this.requestTimeoutMs = config.getInt(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG);
        this.acks = Short.parseShort(config.getString(ProducerConfig.ACKS_CONFIG));
        String clientId = config.getString(ProducerConfig.CLIENT_ID_CONFIG);
        this.client = ClientUtils.createNetworkClient(
                config,
                clientId,
                kafka.metricsRegistry(),
                ioThread == 0 ? METRIC_GROUP : METRIC_GROUP + "-io-" + ioThread, // two selectors cannot share metrics
                new LogContext("[Producer clientId=" + clientId + "] "),
                versions,
                kafka.time(),
                config.getInt(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION),
                requestTimeoutMs,
                null,
                new ImageNodes(),
                new DefaultHostResolver(),
                sensors.throttleTime(),
                pushesTelemetry ? kafka.telemetry().sender() : null);
        sensors.addInFlight(requestsInFlight);
        this.transactions = new TransactionRequests(this, client, versions, protocol);
    }

    @Override
    public void onDisconnect(Consumer<AuthenticationException> listener) {
        onDisconnect = listener;
    }

    @Override
    public boolean ready(Node node, long nowMs) {
        contacted.add(node.idString());
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
        return client.leastLoadedNode(nowMs).hasNodeAvailableOrConnectionReady();
    }

    @Override
    public void disconnectAll() {
        contacted.forEach(client::disconnect);
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
    public void initProducerId(Node node, ProducerIdHandler handler, long nowMs) {
        InitProducerIdRequestData data =
                new InitProducerIdRequestData().setTransactionalId(null).setTransactionTimeoutMs(Integer.MAX_VALUE);
        send(node, new InitProducerIdRequest.Builder(data), true, nowMs, response -> {
            KafkaException failure = failureOrNull(response);
            if (failure != null) {
                handler.onError(failure);
                return;
            }
            InitProducerIdResponse answer = (InitProducerIdResponse) response.responseBody();
            if (answer.error() == Errors.NONE) {
                handler.onProducerId(answer.data().producerId(), answer.data().producerEpoch());
            } else {
                handler.onError(answer.error().exception());
            }
        });
    }

    @Override
    public void metadata(Node node, Collection<String> topics, boolean complete, MetadataHandler handler, long nowMs) {
        MetadataRequest.Builder request = MetadataRequest.Builder.forTopicNames(new ArrayList<>(topics), true);
        send(node, request, true, nowMs, response -> {
            KafkaException failure = failureOrNull(response);
            if (failure != null) {
                handler.onError(failure);
                return;
            }
            MetadataResponse answer = (MetadataResponse) response.responseBody();
            if (answer.topLevelError() == Errors.NONE) {
                ClusterDelta delta = MetadataResponses.toDelta(answer, complete);
                if (!delta.nodes().isEmpty()) { // before a thread that waits for a topic goes on and serializes for it
                    kafka.onClusterId(delta.clusterId());
                }
                handler.onMetadata(delta);
            } else if (answer.topLevelError() == Errors.REBOOTSTRAP_REQUIRED) {
                handler.onRebootstrapRequired();
            } else {
                handler.onError(answer.topLevelError().exception());
            }
        });
    }

    void send(
            Node node,
            AbstractRequest.Builder<?> request,
            boolean expectResponse,
            long nowMs,
            RequestCompletionHandler handler) {
        RequestCompletionHandler guarded = response -> {
            try {
                handler.onComplete(response);
            } catch (Throwable t) { // the network client would only log it, and the batches would never get an outcome
                handlerFailure = t;
            }
        };
        ClientRequest clientRequest =
                client.newClientRequest(node.idString(), request, nowMs, expectResponse, requestTimeoutMs, guarded);
        client.send(clientRequest, nowMs);
    }

    /** Why there is no response body; null if there is one. */
    static KafkaException failureOrNull(ClientResponse response) {
        if (response.authenticationException() != null) {
            return response.authenticationException();
        }
        if (response.versionMismatch() != null) {
            return response.versionMismatch();
        }
        if (response.wasTimedOut()) {
            return new TimeoutException("No answer from node " + response.destination() + " within request.timeout.ms");
        }
        return response.wasDisconnected()
                ? new NetworkException("Disconnected from node " + response.destination())
                : null;
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
        client.poll(timeoutMs, nowMs);
        if (handlerFailure != null) {
            throw new IllegalStateException("A response could not be handled", handlerFailure);
        }
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
        client.wakeup();
    }

    @Override
    public void close() {
        client.close();
        sensors.removeInFlight(requestsInFlight);
    }

    /**
     * Gives the network client the brokers of the current image. Metadata requests are sent by Millrace, not by the
     * client.
     */
    private final class ImageNodes implements MetadataUpdater {
        @Override
        public List<Node> fetchNodes() {
            return images.current().nodes();
        }

        @Override
        public boolean isUpdateDue(long now) {
            return false;
        }

        @Override
        public long maybeUpdate(long now) {
            return Long.MAX_VALUE;
        }

        @Override
        public void handleServerDisconnect(long now, String nodeId, Optional<AuthenticationException> refusal) {
            onDisconnect.accept(refusal.orElse(null));
        }

        @Override
        public void handleFailedRequest(long now, Optional<KafkaException> failure) {
            throw new IllegalStateException("The network client must not send metadata requests of its own");
        }

        @Override
        public void handleSuccessfulResponse(RequestHeader header, long now, MetadataResponse response) {
            throw new IllegalStateException("The network client must not send metadata requests of its own");
        }

        @Override
        public void close() {}
    }
}
