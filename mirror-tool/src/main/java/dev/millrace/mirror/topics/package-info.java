/**
 * <b>Internal, not API.</b> Prepares the topics of the target and keeps them like those of the source: names,
 * partitions, settings, ACLs, quotas. Enters: the topics of the source. Leaves: partitions of the target that may be
 * written to, and why others may not.
 */
package dev.millrace.mirror.topics;
