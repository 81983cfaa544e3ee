/**
 * <b>Internal, not API.</b> Knows where the records of the source are at the target. Enters: acknowledged copies and
 * committed positions. Leaves: translations of offsets.
 *
 * <p>It holds what is known about one partition and the form in which that is stored. Whatever talks to clusters or
 * belongs to a member is elsewhere.
 */
package dev.millrace.mirror.offsets;
