package dev.millrace.mirror.demo;

import java.util.ArrayList;
import java.util.List;

/**
 * Where on the chart a number of threads and a speed are: threads on an axis of doublings, records a second from 0 up.
 *
 * @param maxThreads at the right edge, more than 1
 * @param top records a second at the upper edge, a multiple of {@code step}
 * @param step between two lines of the grid
 */
record CurveScale(int maxThreads, double top, double step) {
    /** Edges of the plot, in units of the picture. */
    static final int LEFT = 84;

    /** Where 1 thread is: its labels must not reach those of the axis. */
    static final int FIRST = 114;

    static final int RIGHT = 700;
    static final int TOP = 96;
    static final int BOTTOM = 420;

    private static final int MOST_LINES = 6;
    private static final double[] ROUND = {1, 2, 2.5, 5, 10};

    /** A scale on which all of these find room, and a label above the highest. */
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

    /** The speeds with a line of the grid, from 0. */
    List<Double> lines() {
        List<Double> lines = new ArrayList<>();
        for (int i = 0; i <= Math.round(top / step); i++) {
            lines.add(i * step);
        }
        return lines;
    }
}
