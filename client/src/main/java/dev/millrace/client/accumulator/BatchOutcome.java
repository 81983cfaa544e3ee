package dev.millrace.client.accumulator;

import dev.millrace.client.delivery.DeliveryCertainty;
import java.util.Collections;
import java.util.Map;

/**
 * How the delivery of a batch ended.
 *
 * @param baseOffset of its first record, -1 if unknown
 * @param logAppendTime the broker's timestamp for its records, -1 if it kept theirs
 * @param error why its records failed, null if they did not; if some have their own reasons, its cause is why the batch
 *     failed
 * @param recordErrors reasons of single records, by index in the batch
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

    /** Returns why the batch as a whole failed; null if it did not. */
    RuntimeException errorOfBatch() {
        return !recordErrors.isEmpty() && error.getCause() instanceof RuntimeException cause ? cause : error;
    }

    /** Returns why the batch failed, from the first record with its own reason if there is one; null if it did not. */
    RuntimeException firstErrorOrNull() {
        return recordErrors.isEmpty() ? error : recordErrors.get(Collections.min(recordErrors.keySet()));
    }
}
