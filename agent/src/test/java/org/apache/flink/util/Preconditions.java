package org.apache.flink.util;

/** Stands in for the one class of Flink's core that the producer of its Kafka connector uses. */
public final class Preconditions {
    private Preconditions() {}

    /** Throws if the condition does not hold. */
    public static void checkState(boolean holds, Object message) {
        if (!holds) {
            throw new IllegalStateException(String.valueOf(message));
        }
    }
}
