package dev.millrace.client.io;

/** Something that the first I/O thread does beside sending, above all to ask the cluster for what all of them need. */
public interface IoTask {
    /** Does it if there is a reason to; returns after how many milliseconds to call again. */
    long runIfDue(long nowMs);

    /** Runs when that thread ends, and again if it threw. */
    default void onEnd(RuntimeException reason) {}
}
