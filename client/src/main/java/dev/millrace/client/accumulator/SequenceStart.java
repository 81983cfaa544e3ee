package dev.millrace.client.accumulator;

/**
 * The producer id, epoch and sequence that the application has set for the next batch of a partition.
 *
 * @param sequence sequence of the batch's first record
 */
public record SequenceStart(long producerId, short epoch, int sequence) {}
