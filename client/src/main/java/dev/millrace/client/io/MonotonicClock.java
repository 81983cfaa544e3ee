package dev.millrace.client.io;

/** A clock independent of the wall clock. Tests use their own. */
@FunctionalInterface
public interface MonotonicClock {
    /** Returns milliseconds since a fixed moment in the past. */
    long nowMs();
}
