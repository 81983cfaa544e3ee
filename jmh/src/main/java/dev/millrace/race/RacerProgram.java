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
     * Starts it and blocks until it has ended. It ends with this JVM at the latest.
     *
     * @param arguments as {@link Racer} takes them, without {@code class}
     * @throws IllegalStateException if it does not end in time
     */
    Ended run(RacerArguments arguments, Duration patience);

    /** How a racer ended. */
    record Ended(int exitCode, String output) {}
}
