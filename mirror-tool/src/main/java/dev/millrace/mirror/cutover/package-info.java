/**
 * <b>Internal, not API.</b> Moves from the source to the target, step by step. Enters: the configuration of a mirror
 * that runs. Leaves: the last offsets of groups, at the target, and what each step has found.
 *
 * <p>{@code Cutover} has the steps. {@code SourceRest} is what the mirror has still to copy, {@code SourceWriters} who
 * writes it, and {@code LastOffsets} moves the groups.
 */
package dev.millrace.mirror.cutover;
