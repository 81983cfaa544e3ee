/**
 * <b>Internal, not API.</b> What happens to a fetched batch: it is passed whole, or opened for a reason that has a
 * name, or skipped. Enters: the fetched bytes of a partition. Leaves: a batch to pass or its records, without an object
 * for each, and how far the partition is acknowledged.
 *
 * <p>{@code SourceBatch} reads headers, {@code AbortedFilter} finds what was aborted, {@code OpenDecision} chooses,
 * {@code RecordCursor} reads records, {@code AckedBatches} keeps progress. Kafka's internals are named in
 * {@code dev.millrace.mirror.kafka} only, on which alone this package depends.
 */
package dev.millrace.mirror.pass;
