package dev.millrace.mirror.demo;

import java.util.ArrayList;
import java.util.List;

/** Finds room for the values of the points of one column: each beside its point, none on another or on a point. */
final class CurveLabels {
    /** Of a line of text. */
    private static final double HEIGHT = 13;

    private static final double MARKER_RADIUS = 6;
    /** From a point to the middle of its label, at least. */
    private static final double NEAREST = 14;

    private CurveLabels() {}

    /**
     * Returns the middle of the label of each point, in their order.
     *
     * @param points how far down each is
     */
    static List<Double> place(List<Double> points) {
        List<Double> middles = new ArrayList<>();
        points.forEach(point -> middles.add(findMiddle(point, middles, points)));
        return middles;
    }

    /** The nearest that is free, rather above the point than below. */
    private static double findMiddle(double point, List<Double> labels, List<Double> points) {
        for (double distance = NEAREST; distance < CurveScale.BOTTOM - CurveScale.TOP; distance += HEIGHT) {
            for (double middle : new double[] {point - distance, point + distance}) {
                if (isFree(middle, labels, points)) {
                    return middle;
                }
            }
        }
        return point - NEAREST; // As many as cannot be told apart anyway.
    }

    private static boolean isFree(double middle, List<Double> labels, List<Double> points) {
        return middle > CurveScale.TOP
                && middle + HEIGHT / 2 < CurveScale.BOTTOM
                && labels.stream().allMatch(label -> Math.abs(label - middle) >= HEIGHT)
                && points.stream().allMatch(point -> Math.abs(point - middle) >= HEIGHT / 2 + MARKER_RADIUS);
    }
}
