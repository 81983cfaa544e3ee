package dev.millrace.client;

import dev.millrace.client.io.TransactionState;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;

/**
 * The methods of {@code Producer} about transactions, behind {@link MillraceProducer}'s own checks. They block up to
 * {@code max.block.ms}; what takes longer goes on, and the same method called again waits for it again.
 *
 * <p><b>Threads:</b> any.
 */
final class TransactionApi {
    private static final String UNKNOWN_MEMBER = "";

    private final Optional<TransactionState> transactions;
    private final long maxBlockMs;

    /** Refuses everything if {@code transactions} is empty. */
    TransactionApi(Optional<TransactionState> transactions, long maxBlockMs) {
        this.transactions = transactions;
        this.maxBlockMs = maxBlockMs;
    }

    void init() {
        state().initTransactions().await(maxBlockMs);
    }

    void begin() {
        state().beginTransaction();
    }

    void sendOffsets(Map<TopicPartition, OffsetAndMetadata> offsets, ConsumerGroupMetadata group) {
        TransactionState state = state();
        if (!offsets.isEmpty()) {
            state.sendOffsetsToTransaction(offsets, group).await(maxBlockMs);
        }
    }

    void commit() {
        state().commitTransaction().await(maxBlockMs);
    }

    void abort() {
        state().abortTransaction().await(maxBlockMs);
    }

    /** A transaction that is open now will be aborted. */
    void close() {
        transactions.ifPresent(TransactionState::close);
    }

    private TransactionState state() {
        return transactions.orElseThrow(() -> new IllegalStateException(
                "This producer has no transactions: set " + ProducerConfig.TRANSACTIONAL_ID_CONFIG + " to have them"));
    }

    static void checkGroup(ConsumerGroupMetadata group) {
        if (group == null) {
            throw new IllegalArgumentException("The metadata of the consumer group must not be null");
        }
        if (group.generationId() > 0 && group.memberId().equals(UNKNOWN_MEMBER)) {
            throw new IllegalArgumentException(group + " has a generation, but no member id");
        }
    }
}
