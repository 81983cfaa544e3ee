/**
 * <b>Internal, not API.</b> For programs that already have records in the record format, such as a mirror. Enters:
 * encoded records and whole batches, for a {@code MillraceProducer}. Leaves: one result per batch, with nothing kept
 * for each record. This package has only the types that such a program names; {@code client} implements the producer
 * and its partitions, {@code accumulator} the result. Depends on no other package of Millrace.
 */
package dev.millrace.client.raw;
