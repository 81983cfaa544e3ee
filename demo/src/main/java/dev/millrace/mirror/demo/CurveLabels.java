package dev.millrace.mirror.demo;

import java.util.ArrayList;
import java.util.List;

/** Places the labels of the points of one column: each beside its point, and none over another label or a point. */
final class CurveLabels {
    /** Height of a line of text. */
    private static final double HEIGHT = 13;

    private static final double MARKER_RADIUS = 6;
    /** Smallest distance from a point to the middle of its label. */
    private static final double NEAREST = 14;

    private CurveLabels() {}

    /**
     * Returns the vertical middle of the label of each point, in the order of the points.
     *
     * @param points the distance of each from the top
     */
    static List<Double> place(List<Double> points) {
        List<Double> middles = new ArrayList<>();
        points.forEach(point -> middles.add(findMiddle(point, middles, points)));
        return middles;
    }

    /** The nearest free place, above the point if both sides are free. */
    private static double findMiddle(double point, List<Double> labels, List<Double> points) {
        for (double distance = NEAREST; distance < CurveScale.BOTTOM - CurveScale.TOP; distance += HEIGHT) {
            for (double middle : new double[] {point - distance, point + distance}) {
                if (isFree(middle, labels, points)) {
                    return middle;
                }
            }
        }
        return point - NEAREST; // So many points that nobody could tell their labels apart.
    }

    private static boolean isFree(double middle, List<Double> labels, List<Double> points) {
        return middle > CurveScale.TOP
                && middle + HEIGHT / 2 < CurveScale.BOTTOM
                && labels.stream().allMatch(label -> Math.abs(label - middle) >= HEIGHT)
                && points.stream().allMatch(point -> Math.abs(point - middle) >= HEIGHT / 2 + MARKER_RADIUS);
    }
}
