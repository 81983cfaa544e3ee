package dev.millrace.client.accumulator;

import org.slf4j.Logger;

/**
 * Logs exceptions of code on which no record's outcome may depend. Logging itself may throw, if memory is used up or
 * the exception's {@code getMessage()} fails; that is caught as well.
 *
 * <p><b>Threads:</b> any.
 */
public final class FailureLog {
    private FailureLog() {}

    /**
     * Logs an error. Throws nothing.
     *
     * @param format with one placeholder, for {@code subject}
     */
    public static void error(Logger log, String format, Object subject, Throwable thrown) {
        try {
            log.error(format, subject, thrown);
        } catch (Throwable notLogged) {
            logNameOnly(log, format, subject, thrown);
        }
    }

    /** Does the same as {@link #error} for failures that futures and callbacks report. */
    public static void warn(Logger log, String format, Object subject, Throwable thrown) {
        try {
            log.warn(format, subject, thrown);
        } catch (Throwable notLogged) {
            logNameOnly(log, format, subject, thrown);
        }
    }

    /** Does the same as {@link #error} for expected failures. */
    public static void debug(Logger log, String format, Object subject, Throwable thrown) {
        try {
            log.debug(format, subject, thrown);
        } catch (Throwable notLogged) {
            logNameOnly(log, format, subject, thrown);
        }
    }

    private static void logNameOnly(Logger log, String format, Object subject, Throwable thrown) {
        try {
            log.error(
                    format + ": {}, which cannot be logged",
                    subject,
                    thrown.getClass().getName());
        } catch (Throwable notLogged) {
            // Nothing more can be done, and the caller must continue.
        }
    }
}
