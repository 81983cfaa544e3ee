package dev.millrace.mirror.demo;

import java.util.ArrayList;
import java.util.List;

/**
 * The axes of the chart: the number of threads on a logarithmic axis, records per second on a linear one from 0.
 *
 * @param maxThreads at the right edge, more than 1
 * @param top records per second at the upper edge, a multiple of {@code step}
 * @param step records per second between two lines of the grid
 */
record CurveScale(int maxThreads, double top, double step) {
    /** Edges of the plot, in units of the picture. */
    static final int LEFT = 84;

    /** The place of 1 thread, far enough from the axis that labels do not overlap. */
    static final int FIRST = 114;

    static final int RIGHT = 700;
    static final int TOP = 116;
    static final int BOTTOM = 440;

    private static final int MOST_LINES = 6;
    private static final double[] ROUND = {1, 2, 2.5, 5, 10};

    /** A scale with room for these threads and speeds, and for a label above the highest. */
    static CurveScale of(int maxThreads, double maxSpeed) {
        double needed = Math.max(1, maxSpeed * 1.08);
        double power = Math.pow(10, Math.floor(Math.log10(needed / MOST_LINES)));
        for (double factor : ROUND) {
            double step = factor * power;
            if (needed <= step * MOST_LINES) {
                return new CurveScale(maxThreads, Math.ceil(needed / step) * step, step);
            }
        }
        throw new IllegalArgumentException("No scale for " + maxSpeed);
    }

    double x(int threads) {
        return FIRST + (RIGHT - FIRST) * Math.log(threads) / Math.log(maxThreads);
    }

    double y(double recordsPerSecond) {
        return BOTTOM - (BOTTOM - TOP) * recordsPerSecond / top;
    }

    /** The speeds of the grid lines, from 0. */
    List<Double> lines() {
        List<Double> lines = new ArrayList<>();
        for (int i = 0; i <= Math.round(top / step); i++) {
            lines.add(i * step);
        }
        return lines;
    }
}
