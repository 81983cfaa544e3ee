package dev.millrace.client.accumulator;

import dev.millrace.client.delivery.DeliveryCertainty;
import java.util.Collections;
import java.util.Map;

/**
 * How the delivery of a batch ended.
 *
 * @param baseOffset of its first record, -1 if unknown
 * @param logAppendTime the broker's timestamp for its records, -1 if it kept theirs
 * @param error why its records failed, null if they did not; if some have own reasons, its cause is why the batch did
 * @param recordErrors own reasons of some of them, by index in the batch
 * @param certainty the same for all: a broker writes a batch whole or not at all
 */
record BatchOutcome(
        long baseOffset,
        long logAppendTime,
        RuntimeException error,
        Map<Integer, ? extends RuntimeException> recordErrors,
        DeliveryCertainty certainty) {
    RuntimeException errorOf(int record) {
        RuntimeException own = recordErrors.isEmpty() ? null : recordErrors.get(record); // get would box the index
        return own == null ? error : own;
    }

    /** Why the batch as a whole failed, null if it did not. */
    RuntimeException errorOfBatch() {
        return !recordErrors.isEmpty() && error.getCause() instanceof RuntimeException cause ? cause : error;
    }

    /** Why the batch failed, by the first record with a reason of its own if there is one; null if it did not. */
    RuntimeException firstErrorOrNull() {
        return recordErrors.isEmpty() ? error : recordErrors.get(Collections.min(recordErrors.keySet()));
    }
}
