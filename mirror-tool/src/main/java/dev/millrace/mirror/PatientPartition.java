package dev.millrace.mirror;

import dev.millrace.client.raw.RawPartition;
import dev.millrace.client.raw.RawProducerId;
import dev.millrace.client.raw.RawResult;
import java.nio.ByteBuffer;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.BufferExhaustedException;

/**
 * Waits for the producer's memory for as long as it takes, unless it is told to give up.
 *
 * <p><b>Threads:</b> that of the partition's worker.
 */
final class PatientPartition implements RawPartition {
    private final RawPartition raw;
    private final BooleanSupplier givesUp;

    /** @param givesUp asked every {@code max.block.ms}; if so, the last {@link BufferExhaustedException} is thrown */
    PatientPartition(RawPartition raw, BooleanSupplier givesUp) {
        this.raw = raw;
        this.givesUp = givesUp;
    }

    @Override
    public RawResult append(long timestamp, byte[] source, int offset, int length) {
        return repeat(() -> raw.append(timestamp, source, offset, length));
    }

    @Override
    public RawResult pass(ByteBuffer batch) {
        return repeat(() -> raw.pass(batch));
    }

    @Override
    public void numberFrom(RawProducerId id, int sequence) {
        raw.numberFrom(id, sequence);
    }

    private RawResult repeat(Supplier<RawResult> write) {
        while (true) {
            try {
                return write.get();
            } catch (BufferExhaustedException e) {
                if (givesUp.getAsBoolean()) {
                    throw e;
                }
            }
        }
    }
}
