package dev.millrace.client.kafka;

import dev.millrace.client.io.BrokerLink;
import dev.millrace.client.io.BrokerLink.MetadataHandler;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.kafka.clients.ClientRequest;
import dev.millrace.kafka.clients.ClientResponse;
import dev.millrace.kafka.clients.MetadataUpdater;
import dev.millrace.kafka.clients.NetworkClient;
import dev.millrace.kafka.clients.RequestCompletionHandler;
import dev.millrace.kafka.common.protocol.Errors;
import dev.millrace.kafka.common.requests.AbstractRequest;
import dev.millrace.kafka.common.requests.MetadataRequest;
import dev.millrace.kafka.common.requests.MetadataResponse;
import dev.millrace.kafka.common.requests.RequestHeader;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ObjIntConsumer;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of one thread, on kafka-clients' {@link NetworkClient}, which handles TLS, SASL, protocol versions
 * and time-outs. The brokers are those of the current image.
 *
 * <p><b>Threads:</b> one; any thread may call {@code wakeup}.
 */
public final class BrokerConnections implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(BrokerConnections.class);

    private static final int MAX_PORT = 65_535;

    private final NetworkClient client;
    private final ClusterImages images;
    private final int requestTimeoutMs;
    private ObjIntConsumer<AuthenticationException> onDisconnect = (refusal, node) -> {};
    private Runnable onRebootstrapRequired = () -> {};
    /** The nodes that the network client knows; it throws if told to disconnect another. */
    private final Set<String> contacted = new HashSet<>();

    /** The requests whose handlers have not run, in the order of sending. */
    private final Map<Answer, ClientRequest> unanswered = new LinkedHashMap<>();

    private Throwable handlerFailure;

    /** Creates the network client through {@code open}, which receives the source of the brokers. */
    public BrokerConnections(
            ClusterImages images, int requestTimeoutMs, Function<MetadataUpdater, NetworkClient> open) {
        this.images = images;
        this.requestTimeoutMs = requestTimeoutMs;
        ProtocolClasses.awaitLoaded();
        this.client = open.apply(new ImageNodes());
    }

    public NetworkClient client() {
        return client;
    }

    /** Does the same as {@link BrokerLink#onDisconnect}. */
    public void onDisconnect(ObjIntConsumer<AuthenticationException> listener) {
        onDisconnect = listener;
    }

    /** Does the same as {@link BrokerLink#onRebootstrapRequired}. */
    public void onRebootstrapRequired(Runnable listener) {
        onRebootstrapRequired = listener;
    }

    /** Whether a request can be sent to the broker now. Starts connecting if there is no connection. */
    public boolean ready(Node node, long nowMs) {
        contacted.add(node.idString());
        return client.ready(node, nowMs);
    }

    /** Returns a broker for requests that any broker can answer, or null while none can be reached. */
    public Node leastLoadedNode(long nowMs) {
        return client.leastLoadedNode(nowMs).node();
    }

    /** Whether a broker is connected, even if it throttles this client now, or a connection could be tried now. */
    public boolean canReachAny(long nowMs) {
        return client.leastLoadedNode(nowMs).hasNodeAvailableOrConnectionReady()
                || images.current().nodes().stream().anyMatch(node -> isConnected(node, nowMs));
    }

    private boolean isConnected(Node node, long nowMs) {
        return client.connectionDelay(node, nowMs) == Long.MAX_VALUE;
    }

    /** Closes every connection; handlers of unanswered requests run as if the connections were lost. */
    public void disconnectAll() {
        contacted.forEach(client::disconnect);
    }

    /** Sends a request; an exception of {@code handler} makes {@link #poll} throw. */
    public void send(
            Node node,
            AbstractRequest.Builder<?> request,
            boolean expectResponse,
            long nowMs,
            RequestCompletionHandler handler) {
        Answer answer = new Answer(handler);
        ClientRequest clientRequest =
                client.newClientRequest(node.idString(), request, nowMs, expectResponse, requestTimeoutMs, answer);
        unanswered.put(answer, clientRequest);
        client.send(clientRequest, nowMs);
    }

    /**
     * Asks for the brokers and these topics.
     *
     * @param mayCreate whether a broker whose {@code auto.create.topics.enable} is true creates those that are missing
     * @param complete whether they are all topics in use
     */
    public void metadata(
            Node node,
            Collection<String> topics,
            boolean mayCreate,
            boolean complete,
            MetadataHandler handler,
            long nowMs) {
        MetadataRequest.Builder request = MetadataRequest.Builder.forTopicNames(new ArrayList<>(topics), mayCreate);
        send(node, request, true, nowMs, response -> {
            KafkaException failure = failureOrNull(response);
            if (failure != null) {
                handler.onError(failure);
                return;
            }
            MetadataResponse answer = (MetadataResponse) response.responseBody();
            if (answer.topLevelError() == Errors.NONE) {
                handler.onMetadata(read(() -> MetadataResponses.toDelta(answer, complete)));
            } else if (answer.topLevelError() == Errors.REBOOTSTRAP_REQUIRED) {
                handler.onRebootstrapRequired();
            } else {
                handler.onError(answer.topLevelError().exception());
            }
        });
    }

    /**
     * Returns what {@code reading} makes of an answer.
     *
     * @throws SenselessAnswerException {@code reading} throws anything
     */
    static <T> T read(Supplier<T> reading) {
        try {
            return reading.get();
        } catch (RuntimeException e) {
            throw new SenselessAnswerException(e);
        }
    }

    /**
     * Whether a connection to the broker can be tried. kafka-clients throws if it is told to connect to others, and with
     * a negative id, a broker would be taken for a bootstrap server.
     */
    static boolean isConnectable(Node broker) {
        return broker.id() >= 0 && !broker.host().isEmpty() && broker.port() > 0 && broker.port() <= MAX_PORT;
    }

    /** Returns why there is no response body; null if there is one. */
    public static KafkaException failureOrNull(ClientResponse response) {
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

    /** Sends, receives and runs handlers; waits up to {@code timeoutMs} for something to do. */
    public void poll(long timeoutMs, long nowMs) {
        try {
            client.poll(timeoutMs, nowMs);
        } catch (RuntimeException | OutOfMemoryError e) {
            log.warn("An answer makes no sense, or its connection failed unexpectedly; connecting anew", e);
            startOver(nowMs);
        }
        if (handlerFailure != null) {
            throw new IllegalStateException("A response could not be handled", handlerFailure);
        }
    }

    /**
     * The network client throws if it cannot read an answer, or has no room for as much as it claims to be
     * (KAFKA-4090). It has then forgotten that request and those whose answers came at the same time, and may take
     * closed connections for open. So all connections are closed, and all requests are lost.
     */
    private void startOver(long nowMs) {
        disconnectAll();
        onDisconnect.accept(null, BrokerLink.ALL);
        new LinkedHashMap<>(unanswered).forEach((answer, request) -> answer.onComplete(lost(request, nowMs)));
    }

    private static ClientResponse lost(ClientRequest request, long nowMs) {
        return new ClientResponse(
                request.makeHeader(request.requestBuilder().latestAllowedVersion()),
                request.callback(),
                request.destination(),
                request.createdTimeMs(),
                nowMs,
                true,
                null,
                null,
                null);
    }

    /** Ends a {@link #poll} that waits, or prevents the next one from waiting. */
    public void wakeup() {
        client.wakeup();
    }

    @Override
    public void close() {
        client.close();
    }

    /** Runs the handler of a request once. */
    private final class Answer implements RequestCompletionHandler {
        private final RequestCompletionHandler handler;

        Answer(RequestCompletionHandler handler) {
            this.handler = handler;
        }

        @Override
        public void onComplete(ClientResponse response) {
            ClientRequest request = unanswered.remove(this);
            if (request == null) {
                return; // it was lost when all connections were closed
            }
            try {
                tell(response, request);
            } catch (Throwable t) { // the network client would only log it, and the request would never get an outcome
                handlerFailure = t;
            }
        }

        private void tell(ClientResponse response, ClientRequest request) {
            try {
                handler.onComplete(response);
            } catch (SenselessAnswerException e) {
                log.warn("An answer of node {} makes no sense; it is taken for lost", response.destination(), e);
                handler.onComplete(lost(request, response.receivedTimeMs()));
            }
        }
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
            onDisconnect.accept(refusal.orElse(null), Integer.parseInt(nodeId));
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
        public String clusterId() {
            return images.current().clusterId();
        }

        @Override
        public void rebootstrap(long now) {
            onRebootstrapRequired.run();
        }

        @Override
        public boolean isBootstrapped() {
            return images.current().hasNodes();
        }

        @Override
        public void bootstrap(List<InetSocketAddress> servers) {
            images.bootstrap(servers);
        }

        @Override
        public void bootstrapFailed(KafkaException failure) {
            images.failForGood(KafkaApi.bootstrapResolution(failure));
        }

        @Override
        public void close() {}
    }
}
