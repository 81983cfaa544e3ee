package dev.millrace.mirror.copy;

import dev.millrace.client.raw.RawPartition;
import dev.millrace.client.raw.RawResult;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.BufferExhaustedException;

/**
 * Waits for the producer's memory for as long as it takes, unless it is told to give up.
 *
 * <p><b>Threads:</b> the partition's worker.
 */
final class PatientPartition extends GuardedPartition {
    private final BooleanSupplier givesUp;

    /** @param givesUp asked every {@code max.block.ms}; if true, the last {@link BufferExhaustedException} is thrown */
    PatientPartition(RawPartition raw, BooleanSupplier givesUp) {
        super(raw);
        this.givesUp = givesUp;
    }

    @Override
    public RawResult write(Supplier<RawResult> attempt) {
        while (true) {
            try {
                return attempt.get();
            } catch (BufferExhaustedException e) {
                if (givesUp.getAsBoolean()) {
                    throw e;
                }
            }
        }
    }
}
