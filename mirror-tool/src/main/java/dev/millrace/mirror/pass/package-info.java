/**
 * <b>Internal, not API.</b> Decides what happens to a fetched batch: it is passed whole, opened for a named reason, or
 * skipped. Enters: the fetched bytes of a partition. Leaves: a batch to pass, or its records without an object for
 * each, and the partition's acknowledged position.
 *
 * <p>{@code SourceBatch} reads headers, {@code AbortedFilter} finds aborted batches, {@code OpenDecision} chooses,
 * {@code RecordCursor} reads records, {@code AckedBatches} keeps progress. Kafka's internals are named in {@code
 * dev.millrace.mirror.kafka} only, on which alone this package depends.
 */
package dev.millrace.mirror.pass;
