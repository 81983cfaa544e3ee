/**
 * <b>Internal, not API.</b> Asks clusters through admin clients, with time-outs and with errors that name the cluster.
 * Enters: a client configuration. Leaves: descriptions, offsets, ids, sizes.
 */
package dev.millrace.mirror.cluster;
