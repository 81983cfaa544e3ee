package dev.millrace.client.accumulator;

import java.util.Random;

/** Random numbers for tests: the seed is printed, and {@code -Dmillrace.seed=…} repeats a run. */
public final class Seed {
    private Seed() {}

    /** The first of several seeds, for a test whose failure names the seed that failed. */
    public static long first() {
        return Long.getLong("millrace.seed", System.nanoTime() & 0xffffffL);
    }

    public static Random random(String test) {
        long seed = Long.getLong("millrace.seed", System.nanoTime());
        System.out.println(test + " runs with -Dmillrace.seed=" + seed);
        return new Random(seed);
    }
}
