package dev.millrace.client.io;

import java.util.Collection;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;

/**
 * The requests of a transactional producer, in Millrace's own types. It knows the transactional id and the timeout.
 * Requests are sent, and handlers run, within {@link BrokerLink#poll}. Send a request only when {@link
 * BrokerLink#ready}.
 *
 * <p><b>Threads:</b> the first I/O thread.
 */
public interface TransactionLink {
    /**
     * Reads the cluster's {@code transaction.version}, and uses it until the next call.
     *
     * @return whether partitions and groups must be added to a transaction before they are written to; else writing
     *     adds them, and every transaction's end gives a new epoch (KIP-890)
     */
    boolean chooseProtocol();

    /** Whether the last attempt to connect to the broker failed, or its connection is lost. */
    boolean isUnreachable(Node node);

    /** Asks any broker for the coordinator of our transactional id, or of a group. */
    void findCoordinator(Node any, String groupOrNull, Handler<Node> handler, long nowMs);

    /** Asks for a producer id, or for the next epoch of a known one. */
    void initProducerId(Node coordinator, ProducerId current, Handler<ProducerId> handler, long nowMs);

    /** Adds partitions; the answer contains those that were refused. */
    void addPartitions(
            Node coordinator,
            ProducerId id,
            Collection<TopicPartition> partitions,
            Handler<Map<TopicPartition, ApiException>> handler,
            long nowMs);

    /** Adds a consumer group's offsets. */
    void addOffsets(Node coordinator, ProducerId id, String group, Handler<Void> handler, long nowMs);

    /** Commits offsets within the transaction; the answer contains the partitions that were refused. */
    void commitOffsets(
            Node groupCoordinator,
            ProducerId id,
            Map<TopicPartition, OffsetAndMetadata> offsets,
            ConsumerGroupMetadata group,
            Handler<Map<TopicPartition, ApiException>> handler,
            long nowMs);

    /** Commits or aborts; the answer is the id to use next, which is the same if the protocol gives no new one. */
    void end(Node coordinator, ProducerId id, boolean commit, Handler<ProducerId> handler, long nowMs);

    /** Takes the answer to a request. */
    interface Handler<T> {
        /** Called once, even if the connection is lost; {@code answer} is valid only if {@code error} is null. */
        void onAnswer(T answer, KafkaException error);
    }
}
