package dev.millrace.mirror.member;

import dev.millrace.client.raw.RawPartition;
import dev.millrace.client.raw.RawResult;
import dev.millrace.mirror.copy.GuardedPartition;
import dev.millrace.mirror.refused.RecordWithdrawal.GivenUpException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.BufferExhaustedException;

/**
 * Reports when a partition takes nothing more because the transaction is over. The caller then gives the partition up,
 * and it is copied again in the next transaction. Also reports when the producer has no memory: the caller does not
 * wait for it, because a transaction cannot end while one of its writers waits.
 *
 * <p><b>Threads:</b> the partition's worker.
 */
final class TransactionalPartition extends GuardedPartition {
    private final Consumer<RuntimeException> onOver;

    /** @param onOver told why the transaction is over */
    TransactionalPartition(RawPartition raw, Consumer<RuntimeException> onOver) {
        super(raw);
        this.onOver = onOver;
    }

    @Override
    public RawResult write(Supplier<RawResult> attempt) {
        try {
            return attempt.get();
        } catch (BufferExhaustedException e) {
            throw new NoMemoryException();
        } catch (RuntimeException e) {
            if (!TransactionErrors.isTransactionOver(e)) {
                throw e;
            }
            onOver.accept(e);
            throw new GivenUpException();
        }
    }
}
