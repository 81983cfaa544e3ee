package dev.millrace.client.io;

/** A clock that is independent of the wall clock. Tests drive their own. */
@FunctionalInterface
public interface MonotonicClock {
    /** Milliseconds since a fixed moment in the past. */
    long nowMs();
}
