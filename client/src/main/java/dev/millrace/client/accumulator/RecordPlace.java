package dev.millrace.client.accumulator;

/** A record's index in the batch that it was written to, or in a part of that batch. */
record RecordPlace(BatchResult batch, int index) {
    /** Where it went when {@link #batch} was split, or null if this is its last place; once that is settled. */
    RecordPlace next() {
        return batch.placeInParts(index);
    }
}
