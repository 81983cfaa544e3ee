package dev.millrace.client.accumulator;

import java.util.Random;

/** Where tests take chance from: the seed is printed, and {@code -Dmillrace.seed=…} repeats a run. */
final class Seed {
    private Seed() {}

    static Random random(String test) {
        long seed = Long.getLong("millrace.seed", System.nanoTime());
        System.out.println(test + " runs with -Dmillrace.seed=" + seed);
        return new Random(seed);
    }
}
