package dev.millrace.client.accumulator;

/** A record's index in the batch that it was written to, or in a part of that batch. */
record RecordPlace(BatchResult batch, int index) {
    /** Once {@link BatchResult#isSettled}: the record's place in its parts, or null if the batch was not split. */
    RecordPlace next() {
        return batch.placeInParts(index);
    }
}
