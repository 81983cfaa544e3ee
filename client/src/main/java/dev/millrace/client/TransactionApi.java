package dev.millrace.client;

import dev.millrace.client.io.TransactionState;
import dev.millrace.client.kafka.ProducerSensors;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.OffsetMetadataTooLarge;

/**
 * The methods of {@code Producer} about transactions, after {@link MillraceProducer} has made its own checks. They
 * block at most {@code max.block.ms} milliseconds. What takes longer continues in the background; a second call of the
 * same method waits for it again.
 *
 * <p><b>Threads:</b> any.
 */
final class TransactionApi {
    private static final String UNKNOWN_MEMBER = "";

    private final Optional<TransactionState> transactions;
    private final long maxBlockMs;
    private final ProducerSensors sensors;

    /** The methods of {@code Producer} throw if {@code transactions} is empty. */
    TransactionApi(Optional<TransactionState> transactions, long maxBlockMs, ProducerSensors sensors) {
        this.transactions = transactions;
        this.maxBlockMs = maxBlockMs;
        this.sensors = sensors;
    }

    void init() {
        long startNs = System.nanoTime();
        state().initTransactions().await(maxBlockMs);
        sensors.onInitTransactions(System.nanoTime() - startNs);
    }

    void begin() {
        long startNs = System.nanoTime();
        state().beginTransaction();
        sensors.onBeginTransaction(System.nanoTime() - startNs);
    }

    void sendOffsets(Map<TopicPartition, OffsetAndMetadata> offsets, ConsumerGroupMetadata group) {
        TransactionState state = state();
        if (!offsets.isEmpty()) {
            offsets.forEach(TransactionApi::checkOffset);
            long startNs = System.nanoTime();
            state.sendOffsetsToTransaction(offsets, group).await(maxBlockMs);
            sensors.onSendOffsets(System.nanoTime() - startNs);
        }
    }

    void commit() {
        long startNs = System.nanoTime();
        state().commitTransaction().await(maxBlockMs);
        sensors.onCommit(System.nanoTime() - startNs);
    }

    void abort() {
        long startNs = System.nanoTime();
        state().abortTransaction().await(maxBlockMs);
        sensors.onAbort(System.nanoTime() - startNs);
    }

    /**
     * Admits a raw send to the open transaction, which does not end before {@link #exitSend}; without transactions, any.
     *
     * @throws IllegalStateException no transaction is open
     * @throws org.apache.kafka.common.KafkaException the transaction or the producer has failed
     */
    void enterSend() {
        if (transactions.isPresent()) {
            transactions.get().enterSend();
        }
    }

    /** The raw send has appended something, or was refused. */
    void exitSend() {
        if (transactions.isPresent()) {
            transactions.get().exitSend();
        }
    }

    /** Lets the I/O thread abort the transaction that is open now. */
    void close() {
        transactions.ifPresent(TransactionState::close);
    }

    /** The accumulator is closed: no send can append any more, so the transaction waits for none. */
    void closeToRecords() {
        transactions.ifPresent(TransactionState::closeToRecords);
    }

    private TransactionState state() {
        return transactions.orElseThrow(() -> new IllegalStateException(
                "This producer has no transactions: set " + ProducerConfig.TRANSACTIONAL_ID_CONFIG + " to have them"));
    }

    /** Checks offsets in the caller's thread: one that does not fit a request would end the I/O thread. */
    private static void checkOffset(TopicPartition partition, OffsetAndMetadata offset) {
        if (partition == null || partition.topic() == null) {
            throw new IllegalArgumentException("The offsets name no partition for " + offset);
        }
        TopicLookup.requireUsualLength(partition.topic());
        if (offset == null) {
            throw new IllegalArgumentException("There is no offset for " + partition
                    + "; the consumer's committed() has null for a partition without a commit");
        }
        if (isTooLong(offset.metadata())) {
            throw new OffsetMetadataTooLarge("The metadata of the offset of " + partition + " has more than "
                    + Short.MAX_VALUE + " bytes, which no request takes");
        }
    }

    private static boolean isTooLong(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length > Short.MAX_VALUE;
    }

    static void checkGroup(ConsumerGroupMetadata group) {
        if (group == null) {
            throw new IllegalArgumentException("The metadata of the consumer group must not be null");
        }
        if (group.generationId() > 0 && group.memberId().equals(UNKNOWN_MEMBER)) {
            throw new IllegalArgumentException(group + " has a generation, but no member id");
        }
        if (isTooLong(group.groupId())
                || isTooLong(group.memberId())
                || isTooLong(group.groupInstanceId().orElse(""))) {
            throw new IllegalArgumentException("The ids of a group and its member have up to " + Short.MAX_VALUE
                    + " bytes each, which is not so of " + group);
        }
    }
}
