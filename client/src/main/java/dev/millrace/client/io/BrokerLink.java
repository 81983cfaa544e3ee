package dev.millrace.client.io;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import dev.millrace.client.metadata.ClusterImage;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.ObjIntConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.AuthenticationException;

/**
 * The network connections of one I/O thread, in Millrace's own types. Requests are sent, and handlers run, only within
 * {@link #poll}.
 *
 * <p><b>Threads:</b> the I/O thread, except {@link #wakeup}, which any thread may call.
 */
public interface BrokerLink extends AutoCloseable {
    /** Whether a request can be sent to the broker now. Starts connecting if there is no connection. */
    boolean ready(Node node, long nowMs);

    /**
     * Returns milliseconds until the next call of {@link #ready} makes sense; may be very large if that depends on an
     * event.
     */
    long pollDelayMs(Node node, long nowMs);

    /**
     * Sets the listener of lost connections. It gets the reason if the broker refused the login, else null, and the id of
     * the broker, or {@link #ALL}; it runs within {@link #poll} or {@link #ready}.
     */
    void onDisconnect(ObjIntConsumer<AuthenticationException> listener);

    /**
     * Sets the listener of brokers that say, when connected, that they are not of the cluster or not the broker that the
     * image tells (KIP-1242); it runs within {@link #poll}.
     */
    default void onRebootstrapRequired(Runnable listener) {}

    /** Stands for a broker's id when all connections are lost. */
    int ALL = Integer.MIN_VALUE;

    /** Returns a broker for requests that any broker can answer, or null while none can be reached. */
    Node leastLoadedNode(long nowMs);

    /** Whether a broker is connected, or a connection could be tried now. */
    boolean canReachAny(long nowMs);

    /** Closes every connection; handlers of unanswered requests run as if the connections were lost. */
    void disconnectAll();

    /**
     * Sends one request with these batches, at most one per partition. {@code image} has all of their topics. Call it
     * only when {@link #ready}.
     */
    void produce(Node node, List<FinishedBatch> batches, ClusterImage image, ProduceHandler handler, long nowMs);

    /**
     * Asks the leader of these partitions what it remembers of producers, and for how long. Call it only when {@link
     * #ready}.
     */
    void describeProducers(Node leader, List<ProducerQuestion> questions, ProducersHandler handler, long nowMs);

    /** Asks for a producer id. Call it only when {@link #ready}. */
    void initProducerId(Node node, ProducerIdHandler handler, long nowMs);

    /**
     * Asks for the brokers and these topics. Call it only when {@link #ready}.
     *
     * @param mayCreate whether a broker whose {@code auto.create.topics.enable} is true creates those that are missing
     * @param complete whether they are all topics in use
     */
    void metadata(
            Node node,
            Collection<String> topics,
            boolean mayCreate,
            boolean complete,
            MetadataHandler handler,
            long nowMs);

    /** Returns the requests of a transactional producer; empty without {@code transactional.id}. */
    default Optional<TransactionLink> transactions() {
        return Optional.empty();
    }

    /** Returns the number of requests sent to this broker and not answered yet. */
    int inFlightRequests(int node);

    /** Sends, receives and runs handlers; waits up to {@code timeoutMs} for something to do. */
    void poll(long timeoutMs, long nowMs);

    /** Whether the link has no requests of its own left to send, so that it may be closed. */
    default boolean isQuiet(long nowMs) {
        return true;
    }

    /** Ends a {@link #poll} that waits, or prevents the next one from waiting. */
    void wakeup();

    /** Closes all connections. No handler runs afterwards. */
    @Override
    void close();

    /** Takes the answer to a produce request. */
    interface ProduceHandler {
        /**
         * Called once, even if the connection is lost.
         *
         * @param answers one per batch of the request
         * @param leaders new leaders that the broker reported, with {@code endpoints} to reach them
         */
        void onAnswers(List<ProduceAnswer> answers, List<LeaderHint> leaders, List<Node> endpoints);
    }

    /**
     * The broker's answer for one batch.
     *
     * @param error null if it was written, or sent with {@code acks=0}
     * @param recordErrors why some records are refused, by index in the batch (KIP-467); may be empty
     * @param baseOffset -1 if the broker did not send it
     * @param logAppendTime -1 if the records keep their own timestamps
     */
    record ProduceAnswer(
            FinishedBatch batch,
            ApiException error,
            Map<Integer, ApiException> recordErrors,
            long baseOffset,
            long logAppendTime) {
        /** Creates the same answer for all records. */
        public ProduceAnswer(FinishedBatch batch, ApiException error, long baseOffset, long logAppendTime) {
            this(batch, error, Map.of(), baseOffset, logAppendTime);
        }

        /** Whether the broker was told not to answer: {@code acks=0}. */
        boolean isUnacknowledged() {
            return error == null && baseOffset < 0;
        }
    }

    /** Asks what the leader of a partition remembers of a producer. */
    record ProducerQuestion(TopicPartition partition, long producerId) {}

    /** Takes the answer to such questions. */
    interface ProducersHandler {
        /**
         * Called once, even if the connection is lost.
         *
         * @param answers one per question
         * @param expirationMs how long the broker remembers a producer: {@code producer.id.expiration.ms}; empty if
         *     there is no answer
         */
        void onAnswers(List<ProducerMemory> answers, OptionalLong expirationMs);
    }

    /** Takes the answer to a request for a producer id. */
    interface ProducerIdHandler {
        void onProducerId(long producerId, short epoch);

        void onError(KafkaException error);
    }

    /** Takes the answer to a metadata request. */
    interface MetadataHandler {
        void onMetadata(ClusterDelta delta);

        /** The broker wants its clients to start again from {@code bootstrap.servers} (KIP-1102). */
        void onRebootstrapRequired();

        void onError(KafkaException error);
    }
}
