/**
 * <b>Internal, not API.</b> What a running mirror tells of itself: states, totals, lag, latency, stalls. Enters:
 * counts of the threads that copy. Leaves: records and MXBeans that anybody may read.
 *
 * <p>Nothing here changes what the mirror does.
 */
package dev.millrace.mirror.status;
