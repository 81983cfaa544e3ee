/**
 * The public API: the producer that applications construct, {@code MillraceProducer}, and its own configuration keys,
 * {@code MillraceConfig}; beside it only {@code dev.millrace.client.delivery} is public. The other classes here put the
 * producer together and carry out {@code send}: in comes a record, out goes an encoded one to the accumulator.
 */
package dev.millrace.client;
