/**
 * <b>Internal, not API.</b> Reports what a running mirror does: states, totals, lag, latency, stalls. Enters: counts of
 * the threads that copy. Leaves: records and MXBeans that any thread may read.
 *
 * <p>Nothing here changes what the mirror does.
 */
package dev.millrace.mirror.status;
