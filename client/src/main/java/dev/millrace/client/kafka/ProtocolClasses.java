package dev.millrace.client.kafka;

import dev.millrace.kafka.common.protocol.ApiKeys;

/**
 * The classes of Kafka's protocol, one or more for each request and each response: some 500, which the JVM initializes
 * together, at the first use of {@link ApiKeys}. That takes a third of the time from a producer's constructor to its
 * first acknowledged record, so a separate thread does it while the constructor does the rest.
 *
 * <p><b>Threads:</b> any.
 * <p><b>Ordering:</b> no thread uses a class of the protocol before {@link #awaitLoaded}. Two threads that initialize
 * classes which need each other could wait for each other forever (JLS 12.4.2).
 */
public final class ProtocolClasses {
    private ProtocolClasses() {}

    /** The first thread that asks for this class initializes it. */
    private static final class Loading {
        static final Thread THREAD = start();

        private static Thread start() {
            // A lambda is avoided because the JVM would set up its first one on the thread that this should relieve.
            Thread thread = new Thread(null, null, "millrace-protocol-classes", 0, false) {
                @Override
                public void run() {
                    initialize();
                }
            };
            thread.setDaemon(true);
            // It has the caller's by default, and the field above would keep that loader for as long as this class.
            thread.setContextClassLoader(ProtocolClasses.class.getClassLoader());
            try {
                thread.start();
            } catch (OutOfMemoryError e) { // there can be no more threads
                initialize();
            }
            return thread;
        }

        private static void initialize() {
            try {
                Class.forName(ApiKeys.class.getName());
            } catch (ClassNotFoundException | LinkageError e) {
                // A thread that uses the classes gets an error with this one as its cause.
            }
        }
    }

    /** Starts loading them, unless that was done before. Does not block. */
    public static void beginToLoad() {
        Loading.THREAD.getName();
    }

    /** Blocks until they are loaded. An interrupt does not end the wait, but its flag remains set. */
    static void awaitLoaded() {
        boolean interrupted = false;
        while (Loading.THREAD.isAlive()) {
            try {
                Loading.THREAD.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
