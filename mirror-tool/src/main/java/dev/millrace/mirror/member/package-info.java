/**
 * <b>Internal, not API.</b> The members of the mirror's group in this process: they own partitions, have them copied,
 * and commit. Enters: partitions that the group coordinator assigns. Leaves: committed positions.
 *
 * <p>By default a {@code SourceGroupMember} commits to a group of the source what the target has acknowledged. With
 * exactly once a {@code TargetGroupMember} commits to a group of the target, in the transaction of the records.
 */
package dev.millrace.mirror.member;
