package dev.millrace.mirror;

import org.apache.kafka.common.KafkaException;

/** A problem told to the user in one line: what happened, where, and what would be right. */
final class MirrorException extends RuntimeException {
    private final int exitCode;

    private MirrorException(int exitCode, String message, Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    /** The command line or a file it names is wrong. */
    static MirrorException usage(String message) {
        return new MirrorException(2, message, null);
    }

    /** Something failed that was asked for rightly. */
    static MirrorException failed(String message) {
        return new MirrorException(1, message, null);
    }

    /** Something failed that was asked for rightly; the message ends with what the cause says. */
    static MirrorException failed(String message, Throwable cause) {
        return new MirrorException(1, message + ": " + reason(cause), cause);
    }

    /** What the process exits with: 2 for wrong usage, 1 for a failure. */
    int exitCode() {
        return exitCode;
    }

    /** What an exception says, in one line; its kind, where that is not Kafka's or the message says nothing. */
    static String reason(Throwable cause) {
        String message = cause.getMessage();
        if (message == null || message.isBlank()) {
            return cause.getClass().getSimpleName();
        }
        String line = message.strip().replaceAll("\\s*\\R\\s*", "; ");
        if (!(cause instanceof KafkaException)) {
            return cause.getClass().getSimpleName() + ": " + line;
        }
        boolean wrapper = cause.getClass() == KafkaException.class && cause.getCause() != null;
        return wrapper ? line + ": " + reason(cause.getCause()) : line;
    }
}
