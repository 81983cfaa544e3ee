/**
 * From the application's thread to the hand-over: claim room in a partition's open batch, encode the record there,
 * finish the batch. Nothing here blocks while memory is at hand, and nothing here knows Kafka's internals.
 *
 * <p><b>Internal, not API.</b>
 */
package dev.millrace.client.accumulator;
