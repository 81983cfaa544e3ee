package dev.millrace.mirror.offsets;

/**
 * Where a consumer that has read the source up to an offset continues at the target.
 *
 * @param target the offset there, which skips no record
 * @param twiceAtMost how many records it may see that it has seen already, 0 if the offset is exact; what the mirror
 *     itself has written twice counts once
 */
public record Translation(long target, long twiceAtMost) {}
