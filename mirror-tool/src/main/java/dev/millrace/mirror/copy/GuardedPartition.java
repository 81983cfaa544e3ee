package dev.millrace.mirror.copy;

import dev.millrace.client.raw.RawPartition;
import dev.millrace.client.raw.RawProducerId;
import dev.millrace.client.raw.RawResult;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * A partition whose writes go through {@link #write}, which decides what happens if one is refused.
 *
 * <p><b>Threads:</b> the partition's worker.
 */
public abstract class GuardedPartition implements RawPartition {
    private final RawPartition raw;

    /** The same data can be written later, when something is acknowledged. */
    public static final class NoMemoryException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        public NoMemoryException() {
            super("The producer has no memory", null, false, false);
        }
    }

    public GuardedPartition(RawPartition raw) {
        this.raw = raw;
    }

    /** Calls {@code attempt}, which writes something and may throw; calls it again to try the same again. */
    public abstract RawResult write(Supplier<RawResult> attempt);

    @Override
    public final RawResult append(long timestamp, byte[] source, int offset, int length) {
        return write(() -> raw.append(timestamp, source, offset, length));
    }

    @Override
    public final RawResult pass(ByteBuffer batch) {
        return write(() -> raw.pass(batch));
    }

    @Override
    public final void compressWith(int codecId) {
        raw.compressWith(codecId);
    }

    @Override
    public final void sequenceFrom(RawProducerId id, int sequence) {
        raw.sequenceFrom(id, sequence);
    }

    @Override
    public final CompletableFuture<Void> withdraw(RuntimeException cause) {
        return raw.withdraw(cause);
    }
}
