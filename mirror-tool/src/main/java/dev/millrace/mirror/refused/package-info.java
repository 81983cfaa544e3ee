/**
 * <b>Internal, not API.</b> Finds the records that the target refuses. Each is skipped, written to a dead-letter topic,
 * or stops its partition or the mirror. Enters: the stretch of a partition in which something was refused. Leaves: the
 * position after it, and reports of what was left out.
 *
 * <p>{@code RefusedRecordSearch} finds the records, {@code RefusedRecordHandler} applies the policy to them, and {@code
 * RefusedRecordReport} counts them. The policy is {@code RefusalPolicies}, in {@code config}.
 */
package dev.millrace.mirror.refused;
