package dev.millrace.mirror.refused;

/**
 * A batch of the source whose records cannot be read.
 *
 * @param from the first source offset that was not copied
 * @param next the source offset after it
 * @param records how many its header says it has
 * @param bytes all of it
 */
public record UnreadableBatch(long from, long next, int records, byte[] bytes, Throwable cause) {}
