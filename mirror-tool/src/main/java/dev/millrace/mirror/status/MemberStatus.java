package dev.millrace.mirror.status;

/**
 * A member of the mirror's group in this process.
 *
 * @param isMember whether the group has it as a member
 * @param partitions how many it owns
 * @param silentSeconds seconds since its last poll; about one at most unless it hangs
 */
public record MemberStatus(String name, boolean isMember, int partitions, double silentSeconds) {}
