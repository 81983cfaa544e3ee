/**
 * <b>Internal, not API.</b> From the application's thread to the hand-over: claim room in a partition's open batch,
 * encode the record there, finish the batch. Enters: an {@code EncodableRecord}. Leaves: a {@code RecordFuture} for the
 * caller, a {@code FinishedBatch} for the I/O thread. Nothing here blocks while there is free memory, and nothing uses
 * Kafka's internals. Depends on {@code memory}, {@code delivery} and {@code raw} only.
 */
package dev.millrace.client.accumulator;
