package dev.millrace.mirror;

import dev.millrace.client.raw.RawPartition;
import dev.millrace.client.raw.RawProducerId;
import dev.millrace.client.raw.RawResult;
import dev.millrace.mirror.GivenUpRecords.GivenUpException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.BufferExhaustedException;

/**
 * Tells when a partition takes nothing more because the transaction is over. The caller gives the partition up then; it
 * is copied anew in the next transaction.
 *
 * <p><b>Threads:</b> that of the partition's worker.
 */
final class TransactionalPartition implements RawPartition {
    private final RawPartition raw;
    private final Consumer<RuntimeException> onOver;

    /** @param onOver told why the transaction is over */
    TransactionalPartition(RawPartition raw, Consumer<RuntimeException> onOver) {
        this.raw = raw;
        this.onOver = onOver;
    }

    @Override
    public RawResult append(long timestamp, byte[] source, int offset, int length) {
        return write(() -> raw.append(timestamp, source, offset, length));
    }

    @Override
    public RawResult pass(ByteBuffer batch) {
        return write(() -> raw.pass(batch));
    }

    @Override
    public void numberFrom(RawProducerId id, int sequence) {
        raw.numberFrom(id, sequence);
    }

    @Override
    public CompletableFuture<Void> withdraw(RuntimeException cause) {
        return raw.withdraw(cause);
    }

    private RawResult write(Supplier<RawResult> write) {
        try {
            return write.get();
        } catch (BufferExhaustedException e) {
            throw e;
        } catch (RuntimeException e) {
            if (!TransactionErrors.isTransactionOver(e)) {
                throw e;
            }
            onOver.accept(e);
            throw new GivenUpException();
        }
    }
}
