package dev.millrace.client.kafka;

/**
 * Closes objects one after the other, and keeps what closing them throws.
 *
 * <p><b>Threads:</b> one.
 */
public final class Closer {
    private Throwable failure;

    /** Creates a closer without a failure so far. */
    public Closer() {}

    /** Creates a closer for the objects made before {@code failure} prevented the next one. */
    public Closer(Throwable failure) {
        this.failure = failure;
    }

    /** Closes {@code part}; does not throw. */
    public void close(AutoCloseable part) {
        try {
            part.close();
        } catch (Throwable t) { // an Error must not leave the others open either
            addFailure(t);
        }
    }

    @SuppressWarnings("ReferenceEquality") // an exception must not be added to itself
    private void addFailure(Throwable thrown) {
        if (failure == null) {
            failure = thrown;
        } else if (failure != thrown) {
            failure.addSuppressed(thrown);
        }
    }

    /** Returns the first failure, with the later ones as suppressed exceptions; null if there was none. */
    public Throwable failure() {
        return failure;
    }
}
