package dev.millrace.mirror;

import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.kafka.common.KafkaException;

/** A problem told to the user in one line: what happened, where, and what would be right. */
public final class MirrorException extends RuntimeException {
    /** What Kafka wraps around whatever goes wrong in certain places. */
    private static final Pattern MEANINGLESS =
            Pattern.compile("Failed to (construct|create new) .*|User rebalance callback throws an error");

    private final int exitCode;

    private MirrorException(int exitCode, String message, Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    /** The command line or a file it names is wrong. */
    public static MirrorException usage(String message) {
        return new MirrorException(2, message, null);
    }

    /**
     * What the user gave is refused, as the cause says; or an {@code Error} kept it from being checked, for Kafka's
     * constructors wrap whatever is thrown.
     */
    public static MirrorException refused(String message, KafkaException cause) {
        return find(Error.class, cause)
                .map(error -> failed(message, error))
                .orElseGet(() -> new MirrorException(2, message + ": " + reason(cause), cause));
    }

    /** Something failed that was asked for rightly. */
    public static MirrorException failed(String message) {
        return new MirrorException(1, message, null);
    }

    /** Something failed that was asked for rightly; the message ends with what the cause says. */
    public static MirrorException failed(String message, Throwable cause) {
        return new MirrorException(1, message + ": " + reason(cause), cause);
    }

    /** What stopped the mirror: the mirror's own words for it, if there are any, whatever Kafka wrapped around them. */
    static MirrorException stopped(Throwable failure) {
        return find(MirrorException.class, failure).orElseGet(() -> failed("The mirror stopped", failure));
    }

    private static <T extends Throwable> Optional<T> find(Class<T> kind, Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (kind.isInstance(cause)) {
                return Optional.of(kind.cast(cause));
            }
        }
        return Optional.empty();
    }

    /** What the process exits with: 2 for wrong usage, 1 for a failure. */
    public int exitCode() {
        return exitCode;
    }

    /** What an exception says, in one line; its kind, where that is not Kafka's or the message says nothing. */
    public static String reason(Throwable cause) {
        String message = cause.getMessage();
        if (message == null || message.isBlank()) {
            return cause.getClass().getSimpleName();
        }
        String line = message.strip().replaceAll("\\s*\\R\\s*", "; ");
        if (cause instanceof OutOfMemoryError) {
            return "too little memory (" + line + "); give the JVM more, such as by MIRROR_JAVA_OPTS=-Xmx1g";
        }
        if (cause instanceof LinkageError) {
            return cause.getClass().getSimpleName() + ": " + line
                    + "; is a jar missing from the class path, or broken?";
        }
        if (cause instanceof MirrorException) {
            return line;
        }
        if (!(cause instanceof KafkaException)) {
            return cause.getClass().getSimpleName() + ": " + line;
        }
        if (cause.getClass() != KafkaException.class || cause.getCause() == null) {
            return line;
        }
        String inner = reason(cause.getCause());
        return MEANINGLESS.matcher(line).matches() ? inner : line + ": " + inner;
    }
}
