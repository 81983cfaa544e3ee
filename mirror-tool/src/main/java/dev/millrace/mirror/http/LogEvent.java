package dev.millrace.mirror.http;

/**
 * A line of the log.
 *
 * @param atMs milliseconds of {@link System#currentTimeMillis}
 */
public record LogEvent(long atMs, String level, String text) {}
