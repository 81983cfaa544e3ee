/**
 * Chooses each record's partition: by the record, by the application's partitioner, by the key, or in turns that follow
 * the load. Enters: a serialized record and an image of the cluster. Leaves: a partition number. The load is read from
 * the accumulator and from what I/O threads note about their brokers; nothing here appends or sends.
 *
 * <p><b>Internal, not API.</b>
 */
package dev.millrace.client.partitioner;
