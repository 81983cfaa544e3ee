package dev.millrace.client.accumulator;

import java.util.Random;
import java.util.stream.LongStream;

/**
 * Random numbers for tests: the seed is printed, and {@code -Dmillrace.seed=…} repeats a run. {@code -Dmillrace.seeds=…}
 * has simulations play that many.
 */
public final class Seed {
    private Seed() {}

    /** Successive seeds, {@code usual} unless told otherwise, for a test whose failure names the seed that failed. */
    public static long[] several(int usual) {
        long first = Long.getLong("millrace.seed", System.nanoTime() & 0xffffffL);
        return LongStream.range(first, first + Integer.getInteger("millrace.seeds", usual))
                .toArray();
    }

    public static Random random(String test) {
        long seed = Long.getLong("millrace.seed", System.nanoTime());
        System.out.println(test + " runs with -Dmillrace.seed=" + seed);
        return new Random(seed);
    }
}
