package dev.millrace.race;

import java.time.Duration;

/**
 * A program that sends through one producer and measures it. Its output ends with a line of {@link RaceMetric}s as
 * JSON.
 */
sealed interface RacerProgram permits RacerJvm, NonJavaRacer {
    /** Its name in the table. */
    String name();

    /**
     * Starts it and returns at once. It ends with this JVM at the latest.
     *
     * @param arguments as {@link Racer} takes them, without {@code class}
     */
    Running start(RacerArguments arguments);

    /**
     * Starts it and blocks until it has ended.
     *
     * @param arguments as {@link Racer} takes them, without {@code class}
     * @throws IllegalStateException if it does not end in time
     */
    default Ended run(RacerArguments arguments, Duration patience) {
        try (Running running = start(arguments)) {
            return running.awaitEnd(patience);
        }
    }

    /** A racer that was started. */
    interface Running extends AutoCloseable {
        boolean isAlive();

        /** All that it has printed so far. */
        String output();

        /**
         * Blocks until it has ended.
         *
         * @throws IllegalStateException if it does not end in time
         */
        Ended awaitEnd(Duration patience);

        /** Kills it. */
        @Override
        void close();
    }

    /** How a racer ended. */
    record Ended(int exitCode, String output) {}
}
