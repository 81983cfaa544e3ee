/**
 * <b>Internal, not API.</b> Knows what the mirror has committed, in which form, and whether it still holds for the same
 * topics, target and names. Enters: positions to commit, and what a group has committed. Leaves: where a partition
 * begins, or why it may not.
 */
package dev.millrace.mirror.progress;
