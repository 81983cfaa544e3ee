package dev.millrace.mirror.fetch;

import java.nio.ByteBuffer;
import java.util.List;
import org.apache.kafka.common.errors.ApiException;

/**
 * One partition of a fetch response.
 *
 * @param bytes batches, the last of which may be incomplete
 * @param readReplica the broker to fetch from instead; -1 for none
 */
public record PartitionAnswer(
        FetchSlot slot,
        Outcome outcome,
        ByteBuffer bytes,
        FetchOffsets offsets,
        List<AbortedTxn> aborted,
        int readReplica) {
    /** Says what to do and why; {@code error} is null if {@code remedy} is {@link Remedy#NONE}. */
    public record Outcome(Remedy remedy, ApiException error) {
        public static final Outcome OK = new Outcome(Remedy.NONE, null);
    }
}
