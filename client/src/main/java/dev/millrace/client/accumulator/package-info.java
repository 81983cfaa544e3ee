/**
 * <b>Internal, not API.</b> Takes records from the application's thread to the hand-over: claims room in a partition's
 * open batch, encodes the record there, finishes the batch. Enters: an {@code EncodableRecord}. Leaves: a {@code
 * RecordFuture} for the caller, a {@code FinishedBatch} for the I/O thread. Nothing here blocks while there is free
 * memory, and nothing uses Kafka's internals. Depends on {@code memory}, {@code delivery} and {@code raw} only.
 */
package dev.millrace.client.accumulator;
