package dev.millrace.weather;

import java.util.List;
import java.util.Random;

/** How a seed chooses. */
final class Chance {
    private Chance() {}

    static <T> T any(List<T> values, Random random) {
        return values.get(random.nextInt(values.size()));
    }

    /** Chooses each order of magnitude as often as another. */
    static double logUniform(double from, double to, Random random) {
        return from * Math.pow(to / from, random.nextDouble());
    }
}
