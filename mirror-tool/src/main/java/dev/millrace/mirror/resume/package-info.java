/**
 * <b>Internal, not API.</b> Finds where a partition goes on so that no record is written twice after a kill. Enters:
 * the committed position, with producer id, epoch and sequence. Leaves: the source offset to go on at, and the
 * sequence to go on with.
 *
 * <p>{@code ExactResume} asks the target what it has, {@code ResumeDecision} says what that proves, and {@code
 * RecordComparison} compares records where the target has forgotten the producer.
 */
package dev.millrace.mirror.resume;
