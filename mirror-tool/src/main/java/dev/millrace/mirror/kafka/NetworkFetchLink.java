package dev.millrace.mirror.kafka;

import dev.millrace.client.io.BrokerLink.MetadataHandler;
import dev.millrace.client.kafka.BrokerConnections;
import dev.millrace.kafka.clients.ClientResponse;
import dev.millrace.kafka.common.protocol.Errors;
import dev.millrace.kafka.common.requests.AbstractRequest;
import dev.millrace.kafka.common.requests.FetchResponse;
import dev.millrace.kafka.common.requests.ListOffsetsResponse;
import dev.millrace.kafka.common.requests.OffsetsForLeaderEpochResponse;
import dev.millrace.mirror.fetch.FetchCall;
import dev.millrace.mirror.fetch.FetchLink;
import dev.millrace.mirror.fetch.FetchSession;
import dev.millrace.mirror.fetch.FetchSettings;
import dev.millrace.mirror.fetch.OffsetAnswer;
import dev.millrace.mirror.fetch.OffsetQuery;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.function.ObjIntConsumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.AuthenticationException;

/**
 * Implements {@link FetchLink} on {@link BrokerConnections}.
 *
 * <p><b>Threads:</b> the fetch thread; any thread may call {@code wakeup}.
 */
final class NetworkFetchLink implements FetchLink {
    private final BrokerConnections connections;
    private final FetchRequests requests;
    private final IsolationLevel isolationLevel;
    private final int requestTimeoutMs;

    NetworkFetchLink(ConsumerConfig config, BrokerConnections connections) {
        this.connections = connections;
        this.isolationLevel = FetchSettings.isolation(config);
        this.requestTimeoutMs = config.getInt(ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG);
        this.requests = new FetchRequests(
                config.getInt(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG),
                isolationLevel,
                config.getString(ConsumerConfig.CLIENT_RACK_CONFIG));
    }

    @Override
    public void onDisconnect(ObjIntConsumer<AuthenticationException> listener) {
        connections.onDisconnect(listener);
    }

    @Override
    public boolean ready(Node node, long nowMs) {
        return connections.ready(node, nowMs);
    }

    @Override
    public long pollDelayMs(Node node, long nowMs) {
        return connections.client().pollDelayMs(node, nowMs);
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
    public void fetch(FetchCall call, FetchSession session, FetchHandler handler, long nowMs) {
        connections.send(call.node(), requests.request(call), true, nowMs, response -> {
            KafkaException failure = BrokerConnections.failureOrNull(response);
            if (failure != null) {
                handler.onFailure(failure);
                return;
            }
            FetchResponse answer = (FetchResponse) response.responseBody();
            if (answer.error() == Errors.NONE) {
                handler.onAnswer(FetchResponses.toAnswer(answer.data(), session, response.requestLatencyMs()));
            } else {
                handler.onFailure(answer.error().exception());
            }
        });
    }

    @Override
    public void metadata(Node node, Collection<String> topics, MetadataHandler handler, long nowMs) {
        boolean mayCreate = false; // a deleted topic must not come back
        connections.metadata(node, topics, mayCreate, true, handler, nowMs);
    }

    @Override
    public void listOffsets(Node node, List<OffsetQuery> queries, OffsetHandler handler, long nowMs) {
        ask(
                node,
                OffsetExchanges.listOffsets(queries, isolationLevel, requestTimeoutMs),
                handler,
                nowMs,
                response -> OffsetExchanges.toAnswers(((ListOffsetsResponse) response.responseBody()).data()));
    }

    @Override
    public void epochEnds(Node node, List<OffsetQuery> queries, OffsetHandler handler, long nowMs) {
        ask(
                node,
                OffsetExchanges.epochEnds(queries),
                handler,
                nowMs,
                response ->
                        OffsetExchanges.toAnswers(((OffsetsForLeaderEpochResponse) response.responseBody()).data()));
    }

    private void ask(
            Node node,
            AbstractRequest.Builder<?> request,
            OffsetHandler handler,
            long nowMs,
            Function<ClientResponse, List<OffsetAnswer>> toAnswers) {
        connections.send(node, request, true, nowMs, response -> {
            KafkaException failure = BrokerConnections.failureOrNull(response);
            if (failure == null) {
                handler.onAnswers(toAnswers.apply(response));
            } else {
                handler.onFailure(failure);
            }
        });
    }

    @Override
    public void poll(long timeoutMs, long nowMs) {
        connections.poll(timeoutMs, nowMs);
    }

    @Override
    public void wakeup() {
        connections.wakeup();
    }

    @Override
    public void close() {
        connections.close();
    }
}
