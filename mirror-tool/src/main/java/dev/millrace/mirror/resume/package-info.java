/**
 * <b>Internal, not API.</b> Finds where a partition goes on so that no record is written twice after a kill. Enters:
 * the committed position, with producer id, epoch and sequence. Leaves: the source offset to go on at, with the
 * producer id, epoch and sequence of the record there.
 *
 * <p>{@code ExactResume} asks the target what it has, {@code ResumeDecision} says what that proves, and {@code
 * RecordComparison} checks that the records there are the next ones of the source. {@code LostTails} decides if the
 * target ends before what is committed.
 */
package dev.millrace.mirror.resume;
