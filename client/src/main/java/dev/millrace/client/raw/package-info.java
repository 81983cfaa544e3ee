/**
 * <b>Internal, not API.</b> The seam for a program that has records in the record format already, as a mirror has: it
 * appends encoded records, or passes on whole batches, through a {@code MillraceProducer}, with nothing kept for each
 * record. Here are only the types that the program names; {@code client} implements the producer and its partitions,
 * {@code accumulator} the result. Depends on no other package of Millrace.
 */
package dev.millrace.client.raw;
