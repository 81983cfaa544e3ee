package dev.millrace.race;

import dev.millrace.testkit.figures.RatioOfPairs;
import java.util.Collections;
import java.util.List;

/** The median, the least and the greatest of some numbers. */
record MedianAndRange(double median, double min, double max) {
    /** @throws IllegalArgumentException if there are none */
    static MedianAndRange of(List<Double> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("No values");
        }
        return new MedianAndRange(RatioOfPairs.median(values), Collections.min(values), Collections.max(values));
    }
}
