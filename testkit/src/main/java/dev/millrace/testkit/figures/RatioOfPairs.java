package dev.millrace.testkit.figures;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * What the ratios of many pairs of measurements say.
 *
 * @param median of all
 * @param low lower end of the 95 % interval of the median, by the bootstrap
 * @param high its upper end
 * @param worstTenth a tenth of the pairs is at least as bad
 */
public record RatioOfPairs(double median, double low, double high, double worstTenth) {
    /** The fewest ratios of which an interval says something. */
    public static final int FEWEST = 10;

    private static final int RESAMPLES = 2_000;
    private static final double OUTSIDE = 0.025;
    private static final double TENTH = 0.1;
    /** Two digits say too little of a ratio below this. */
    private static final double SMALL = 0.05;

    /**
     * Returns what these ratios say.
     *
     * @param isMoreBetter whether the small ratios are the bad ones
     */
    public static RatioOfPairs of(List<Double> ratios, boolean isMoreBetter) {
        double[] sorted =
                ratios.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        SplittableRandom random = new SplittableRandom(0); // so that the same pairs always give the same interval
        double[] medians = new double[RESAMPLES];
        double[] sample = new double[sorted.length];
        for (int i = 0; i < RESAMPLES; i++) {
            Arrays.setAll(sample, unused -> sorted[random.nextInt(sorted.length)]);
            Arrays.sort(sample);
            medians[i] = quantile(sample, 0.5);
        }
        Arrays.sort(medians);
        return new RatioOfPairs(
                quantile(sorted, 0.5),
                quantile(medians, OUTSIDE),
                quantile(medians, 1 - OUTSIDE),
                quantile(sorted, isMoreBetter ? TENTH : 1 - TENTH));
    }

    /** Returns the ratio of each pair: the numbers of one list divided by those of the other. */
    public static List<Double> divide(List<Double> dividends, List<Double> divisors) {
        return IntStream.range(0, dividends.size())
                .mapToObj(pair -> dividends.get(pair) / divisors.get(pair))
                .toList();
    }

    /** Returns the number in the middle, or the mean of the two in the middle. */
    public static double median(List<Double> values) {
        return quantile(
                values.stream().mapToDouble(Double::doubleValue).sorted().toArray(), 0.5);
    }

    /** Between two numbers, in proportion. */
    private static double quantile(double[] sorted, double share) {
        double at = share * (sorted.length - 1);
        int below = (int) at;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
    }

    @Override
    public String toString() {
        return show(median) + " (" + show(low) + " to " + show(high) + "; " + show(worstTenth) + ")";
    }

    private static String show(double ratio) {
        return String.format(Locale.ROOT, ratio < SMALL ? "%.4f" : "%.2f", ratio);
    }
}
