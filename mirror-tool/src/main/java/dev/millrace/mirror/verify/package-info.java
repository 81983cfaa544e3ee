/**
 * <b>Internal, not API.</b> Compares topics of the source with their copies. Enters: a mirror's configuration. Leaves:
 * what is equal, what differs and where, and what could not be compared.
 *
 * <p>{@code Verification} takes the ends of all partitions once and compares one partition after the other: {@code
 * Alignment} compares the records in order, and {@code FoundFaults} classifies the unmatched ones; {@code
 * KeyComparison} compares the last record of each key where a cluster compacts.
 */
package dev.millrace.mirror.verify;
