package dev.millrace.mirror.text;

import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.NoOffsetForPartitionException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.RetriableException;

/** A failure whose message is one line for the user: what happened, where, and what would be right. */
public final class MirrorException extends RuntimeException {
    /** Messages of exceptions that Kafka wraps around another in certain places. */
    private static final Pattern MEANINGLESS =
            Pattern.compile("Failed to (construct|create new) .*|User rebalance callback throws an error");

    private final int exitCode;
    private final boolean isTemporary;

    private MirrorException(int exitCode, String message, Throwable cause) {
        this(exitCode, message, cause, false);
    }

    private MirrorException(int exitCode, String message, Throwable cause, boolean isTemporary) {
        super(message, cause);
        this.exitCode = exitCode;
        this.isTemporary = isTemporary;
    }

    /** The command line or a file it names is wrong. */
    public static MirrorException usage(String message) {
        return new MirrorException(2, message, null);
    }

    /**
     * Kafka refuses the user's configuration; the cause says why. If the cause is an {@code Error}, which Kafka's
     * constructors wrap as well, the configuration may be right and the exit code is that of a failure.
     */
    public static MirrorException refused(String message, KafkaException cause) {
        return find(Error.class, cause)
                .map(error -> failed(message, error))
                .orElseGet(() -> new MirrorException(2, message + ": " + reason(cause), cause));
    }

    /** Something failed although the command line is right. */
    public static MirrorException failed(String message) {
        return new MirrorException(1, message, null);
    }

    /** A topic cannot be mirrored under its name. */
    public static MirrorException ofName(String message) {
        return new MirrorException(1, message, new InvalidTopicException(message));
    }

    /** Something failed although the command line is right, and may succeed later. */
    public static MirrorException temporary(String message) {
        return new MirrorException(1, message, null, true);
    }

    /** Something failed although the command line is right; the message ends with that of the cause. */
    public static MirrorException failed(String message, Throwable cause) {
        return new MirrorException(1, message + ": " + reason(cause), cause);
    }

    /**
     * Returns what stopped the mirror: the first exception of this class among the causes, or a new one that names the
     * failure.
     */
    public static MirrorException stopped(Throwable failure) {
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

    /** Whether a retry may succeed because a cluster did not answer or was not ready. */
    public boolean isTemporary() {
        return isTemporary
                || find(RetriableException.class, this).isPresent()
                // There are too few brokers for a new topic's replicas while some are down.
                || find(InvalidReplicationFactorException.class, this).isPresent();
    }

    /** Whether a topic cannot have its name there, which concerns that topic alone. */
    public boolean isOfName() {
        return find(InvalidTopicException.class, this).isPresent();
    }

    /** Returns the exit code of the process: 2 for wrong usage, 1 for a failure. */
    public int exitCode() {
        return exitCode;
    }

    /** Returns the message of an exception in one line, with the name of its class unless it is one of Kafka's. */
    public static String reason(Throwable cause) {
        String message = cause.getMessage();
        if (message == null || message.isBlank()) {
            return cause.getClass().getSimpleName();
        }
        String line = message.strip().replaceAll("\\s*\\R\\s*", "; ");
        if (cause instanceof OutOfMemoryError) {
            return "too little memory (" + line + "); give the JVM more, for example with MIRROR_JAVA_OPTS=-Xmx1g";
        }
        if (cause instanceof LinkageError) {
            return cause.getClass().getSimpleName() + ": " + line
                    + "; is a jar missing from the class path, or broken?";
        }
        if (cause instanceof NoOffsetForPartitionException none) {
            return "the group has no position of " + none.partitions() + ", and auto.offset.reset=none lets the mirror"
                    + " choose none; commit positions for the group, or set earliest or latest";
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
