package dev.millrace.mirror.member;

import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.copy.BatchCopier;
import dev.millrace.mirror.progress.SourcePositions;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * The open transaction of a {@link TargetGroupMember}: where each partition begins in it, which positions it adds, when
 * it is to end, and whether the target takes it. The object stands for one transaction after the other.
 *
 * <p><b>Threads:</b> the member's thread.
 */
final class OpenTransaction {
    /** If the target takes nothing of an ending transaction for this long, some partitions hang. */
    private static final long HUNG_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** How long the member waits for an ending transaction's records before it goes on with other things. */
    private static final long ANSWER_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private static final long NEVER_COMMITTED = -1;

    private final TopicNames names;
    private final TargetTransactions transactions;
    private final BatchCopier copier;
    private final TransactionPace pace = new TransactionPace();

    /** What transactions of this process have committed. */
    private final Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>();
    /** Where each partition begins in the open transaction. */
    private final Map<TopicPartition, Long> begins = new HashMap<>();
    /** The positions that the open transaction adds. */
    private Map<TopicPartition, OffsetAndMetadata> adding = Map.of();

    private long beganNanos = System.nanoTime();
    private long beganBytes;
    /** When all records of the ending transaction were acknowledged. */
    private long answeredNanos;

    private long answeredBytes;

    OpenTransaction(TopicNames names, TargetTransactions transactions, BatchCopier copier) {
        this.names = names;
        this.transactions = transactions;
        this.copier = copier;
        copier.limitInFlight(pace.inFlightBytes());
    }

    /** Notes where partitions begin that are about to be copied. */
    void onAdded(Map<TopicPartition, SourcePositions.Start> partitions) {
        partitions.forEach((partition, start) -> begins.put(partition, start.offset()));
    }

    /** Returns where these partitions begin; -1 for one that is not copied yet. */
    Map<TopicPartition, Long> begins(Collection<TopicPartition> partitions) {
        Map<TopicPartition, Long> found = new HashMap<>();
        partitions.forEach(partition -> found.put(partition, begins.getOrDefault(partition, NEVER_COMMITTED)));
        return found;
    }

    /** Returns whether it has been open for long enough, or has enough bytes, to end. */
    boolean isCommitDue(long nowNanos) {
        return pace.isDue(nowNanos - beganNanos, copier.totals().bytes() - beganBytes);
    }

    /**
     * Takes the transaction a step towards its end; to be called until it is committed.
     *
     * @param group the member's, as {@link TargetTransactions#tryCommit} takes it
     * @return the positions that are committed with it, none if nothing was written; empty if it is not committed yet
     */
    Optional<Map<TopicPartition, OffsetAndMetadata>> tryCommit(ConsumerGroupMetadata group) {
        if (!transactions.tryCommit(() -> names.onTarget(newPositions()), this::areRecordsAnswered, group)) {
            return Optional.empty();
        }
        if (!adding.isEmpty()) {
            pace.onCommitted(answeredBytes - beganBytes, answeredNanos - beganNanos, System.nanoTime() - answeredNanos);
            copier.limitInFlight(pace.inFlightBytes());
        }
        copier.advance();
        Map<TopicPartition, OffsetAndMetadata> added = adding;
        added.forEach((partition, position) -> {
            committed.put(partition, position);
            begins.put(partition, position.offset());
        });
        adding = Map.of();
        beganNanos = System.nanoTime();
        beganBytes = copier.totals().bytes();
        return Optional.of(added);
    }

    private Map<TopicPartition, OffsetAndMetadata> newPositions() {
        Map<TopicPartition, OffsetAndMetadata> positions = copier.sentPositions();
        positions.entrySet().removeIf(next -> next.getValue().equals(committed.get(next.getKey())));
        adding = positions;
        return positions;
    }

    private boolean areRecordsAnswered() {
        boolean isAnswered =
                copier.await(adding.keySet(), System.nanoTime() + ANSWER_NANOS).isEmpty();
        answeredNanos = System.nanoTime();
        answeredBytes = copier.totals().bytes();
        return isAnswered;
    }

    /** Returns whether the target takes nothing of the ending transaction. */
    boolean hangs() {
        return transactions.stalledNanos(copier.totals().acked()) >= HUNG_NANOS;
    }

    /** Returns the partitions for whose records the transaction that {@link #hangs} waits, unless these are all. */
    List<TopicPartition> hanging() {
        if (!hangs()) {
            return List.of();
        }
        List<TopicPartition> awaited = copier.awaited(adding.keySet());
        return awaited.size() < adding.size() ? awaited : List.of();
    }

    /** Notes that the transaction is aborted. What it had written is to be added by the next one. */
    void onAborted() {
        adding = Map.of();
        committed.clear(); // a target that has lost a topic may have lost its position, too
        pace.onAborted();
        copier.limitInFlight(pace.inFlightBytes());
    }

    /** Forgets partitions that the member no longer owns. */
    void forget(Collection<TopicPartition> partitions) {
        committed.keySet().removeAll(partitions);
        begins.keySet().removeAll(partitions);
    }
}
