/**
 * The public API: the producer that applications construct, {@code MillraceProducer}, and its own configuration keys,
 * {@code MillraceConfig}; beside it only {@code dev.millrace.client.delivery} is public. The other classes here
 * assemble the producer and carry out {@code send}. Enters: a record. Leaves: an encoded record for the accumulator.
 */
package dev.millrace.client;
