package dev.millrace.client.accumulator;

/** A record's index in the batch that it was written to, or in a part of that batch. */
record RecordPlace(BatchResult batch, int index) {
    /** Returns the place in the batch's parts once {@link BatchResult#isSettled}, or null if it was not split. */
    RecordPlace next() {
        return batch.placeInParts(index);
    }
}
