/**
 * <b>Internal, not API.</b> What the mirror has committed, in which form, and whether it still holds: for the same
 * topics, the same target, the same names. Enters: positions to commit; what a group has committed. Leaves: where a
 * partition begins, or why it may not.
 */
package dev.millrace.mirror.progress;
