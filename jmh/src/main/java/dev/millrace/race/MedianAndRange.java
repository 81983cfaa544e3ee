package dev.millrace.race;

import java.util.List;

/** The median, the least and the greatest of some numbers. */
record MedianAndRange(double median, double min, double max) {
    /** @throws IllegalArgumentException if there are none */
    static MedianAndRange of(List<Double> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("No values");
        }
        List<Double> sorted = values.stream().sorted().toList();
        int last = sorted.size() - 1;
        double median = (sorted.get(last / 2) + sorted.get((last + 1) / 2)) / 2;
        return new MedianAndRange(median, sorted.get(0), sorted.get(last));
    }
}
