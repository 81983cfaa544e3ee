package dev.millrace.race;

import java.time.Duration;

/** One who races, in a process of its own. Its output ends with a line of {@link RaceMetric}s as JSON. */
sealed interface RacerProgram permits RacerJvm, NonJavaRacer {
    /** As the table names it. */
    String name();

    /**
     * Blocks until it has ended. It ends with this JVM if not before.
     *
     * @param arguments as {@link Racer} takes them, without {@code class}
     * @throws IllegalStateException when it does not end in time
     */
    Ended run(RacerArguments arguments, Duration patience);

    /** What is left of a racer. */
    record Ended(int exitCode, String output) {}
}
