/**
 * <b>Internal, not API.</b> Memory for batches, bounded by {@code buffer.memory}: byte arrays go out and come back, and
 * threads wait for them in the order of arrival. Depends on no other package of Millrace.
 */
package dev.millrace.client.memory;
