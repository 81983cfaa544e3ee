package dev.millrace.mirror.copy;

import dev.millrace.client.raw.RawPartition;
import dev.millrace.mirror.pass.OpenDecision;
import org.apache.kafka.common.TopicPartition;

/**
 * Where copies go: the shared producer, or the transactions of a member.
 *
 * <p><b>Threads:</b> the workers, several at a time.
 */
public interface CopyTarget {
    /** An existing partition of the target, and which batches it takes as they are. */
    record OpenTarget(RawPartition raw, OpenDecision decision) {}

    /**
     * Returns null if the partition cannot be opened now. Called from its first batch on until it answers; may block.
     */
    OpenTarget openOrNull(TopicPartition partition);

    /** Called by the worker before it sends; waits until it may. */
    default void enter() {}

    /** Called by the worker after it has sent, and noted what. */
    default void exit() {}

    /** Returns whether this failure says nothing of the batch, and the transaction begins again. */
    default boolean isTransactionOver(Throwable failure) {
        return false;
    }
}
