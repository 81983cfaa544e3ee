/**
 * <b>Internal, not API.</b> Compares topics of the source with their copies. Enters: a mirror's configuration. Leaves:
 * what is the same, what differs and where, and what cannot be told.
 *
 * <p>{@code Verification} takes the ends of all partitions once and compares one partition after the other:
 * {@code Alignment} the records in their order, with {@code FoundFaults} telling what the unmatched ones are;
 * {@code KeyComparison} the last record of each key, where a cluster compacts.
 */
package dev.millrace.mirror.verify;
