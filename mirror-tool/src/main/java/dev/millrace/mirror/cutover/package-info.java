/**
 * <b>Internal, not API.</b> Moves from the source to the target, step by step. Enters: the configurations of a mirror
 * that runs, and of one in the other direction. Leaves: ACLs that keep writers out, the last offsets of groups at the
 * target, positions for the way back, and what each step has found.
 *
 * <p>{@code Cutover} has the steps. {@code CopyCheck} looks whether the mirror
 * works, {@code Fence} keeps writers out, {@code QuietSource} waits until nobody writes, {@code LastOffsets} moves the
 * groups, and {@code WayBack} turns the direction. {@code SourceRest} is what the mirror has still to copy, and {@code
 * SourceWriters} who writes it.
 *
 * <p>A cutover may be killed at any point. What a later call must know is in {@code CutoverState}, written before it
 * becomes true; {@code OnlyCutover} makes sure that there is no other one meanwhile.
 */
package dev.millrace.mirror.cutover;
