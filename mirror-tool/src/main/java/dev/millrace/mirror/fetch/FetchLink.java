package dev.millrace.mirror.fetch;

import dev.millrace.client.io.BrokerLink.MetadataHandler;
import java.util.Collection;
import java.util.List;
import java.util.function.ObjIntConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.AuthenticationException;

/**
 * The connections of the fetch thread to the source, in the mirror's own types. Handlers run only within {@link #poll}
 * or {@link #ready}, each once, even if the connection is lost.
 *
 * <p><b>Threads:</b> the fetch thread, except {@link #wakeup}, which any thread may call.
 */
public interface FetchLink extends AutoCloseable {
    /** Returns a node that stands for a second connection to the same broker. */
    static Node secondConnection(Node broker) {
        return new Node(Integer.MAX_VALUE - broker.id(), broker.host(), broker.port(), broker.rack());
    }

    /**
     * Sets the listener of connections that are lost or cannot be made; it gets the reason if the broker refused the
     * login, else null, and the id of the connection's node.
     */
    void onDisconnect(ObjIntConsumer<AuthenticationException> listener);

    /** Whether a request can be sent to the broker now. Starts connecting if there is no connection. */
    boolean ready(Node node, long nowMs);

    /** Returns milliseconds until the next {@link #ready} makes sense; very large if that depends on an event. */
    long pollDelayMs(Node node, long nowMs);

    /** Returns a broker for requests that any broker can answer, or null while none can be reached. */
    Node leastLoadedNode(long nowMs);

    /** Whether a broker is connected, or a connection could be tried now. */
    boolean canReachAny(long nowMs);

    /** Closes every connection. */
    void disconnectAll();

    /** Asks for the next batches of the partitions of {@code session}. Call it only when {@link #ready}. */
    void fetch(FetchCall call, FetchSession session, FetchHandler handler, long nowMs);

    /** Asks for the brokers and these topics. Call it only when {@link #ready}. */
    void metadata(Node node, Collection<String> topics, MetadataHandler handler, long nowMs);

    /** Asks for the first offset at or after a timestamp. Call it only when {@link #ready}. */
    void listOffsets(Node node, List<OffsetQuery> queries, OffsetHandler handler, long nowMs);

    /** Asks where leader epochs end. Call it only when {@link #ready}. */
    void epochEnds(Node node, List<OffsetQuery> queries, OffsetHandler handler, long nowMs);

    /** Sends, receives and runs handlers; waits up to {@code timeoutMs} for something to do. */
    void poll(long timeoutMs, long nowMs);

    /** Ends a {@link #poll} that waits, or prevents the next one from waiting. */
    void wakeup();

    /** Closes all connections. No handler runs afterwards. */
    @Override
    void close();

    /** Takes the answer to a fetch request. */
    interface FetchHandler {
        void onAnswer(FetchAnswer answer);

        /** The broker refused the whole request, or no answer came; the session must begin again. */
        void onFailure(KafkaException failure);
    }

    /** Takes the answer to a question about offsets. */
    interface OffsetHandler {
        void onAnswers(List<OffsetAnswer> answers);

        void onFailure(KafkaException failure);
    }
}
