/**
 * <b>Internal, not API.</b> Memory for batches, bounded by {@code buffer.memory}; threads wait for it in the order of
 * arrival. Leaves: byte arrays for batches. Enters: the same arrays when their batches are done. Depends on no other
 * package of Millrace.
 */
package dev.millrace.client.memory;
