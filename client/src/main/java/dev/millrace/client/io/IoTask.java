package dev.millrace.client.io;

/**
 * Work of the first I/O thread besides sending, above all requests whose answers all I/O threads need.
 *
 * <p><b>Threads:</b> the first I/O thread.
 */
public interface IoTask {
    /** Runs the task if it is due; returns the milliseconds until the next call. */
    long runIfDue(long nowMs);

    /** Called when the thread ends, and again if it threw. */
    default void onEnd(RuntimeException reason) {}
}
