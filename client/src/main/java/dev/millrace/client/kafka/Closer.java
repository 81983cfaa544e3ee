package dev.millrace.client.kafka;

/**
 * Closes one thing after the other, whatever closing them throws, and remembers it.
 *
 * <p><b>Threads:</b> one.
 */
public final class Closer {
    private Throwable failure;

    /** Nothing has failed yet. */
    public Closer() {}

    /** For what is there already when {@code failure} keeps the rest from being made. */
    public Closer(Throwable failure) {
        this.failure = failure;
    }

    /** Never throws. */
    public void close(AutoCloseable part) {
        try {
            part.close();
        } catch (Throwable t) { // an Error, too, must not leave the others open
            note(t);
        }
    }

    @SuppressWarnings("ReferenceEquality") // an exception must not be added to itself
    private void note(Throwable thrown) {
        if (failure == null) {
            failure = thrown;
        } else if (failure != thrown) {
            failure.addSuppressed(thrown);
        }
    }

    /** What was thrown first, with what was thrown later added to it; null if nothing was. */
    public Throwable failure() {
        return failure;
    }
}
