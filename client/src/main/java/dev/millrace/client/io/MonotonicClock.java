package dev.millrace.client.io;

/** A clock that no change of the wall clock moves. Tests drive their own. */
@FunctionalInterface
public interface MonotonicClock {
    /** Milliseconds since some moment of the past. */
    long nowMs();
}
