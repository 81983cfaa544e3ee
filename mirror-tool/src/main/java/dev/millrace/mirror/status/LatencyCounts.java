package dev.millrace.mirror.status;

/**
 * Counts records by the time that they took.
 *
 * @param boundsMs the longest time of each bucket but the last, which has no bound; ascending
 * @param counts the records of each bucket alone
 * @param sumSeconds of the times of all records
 */
public record LatencyCounts(long[] boundsMs, long[] counts, double sumSeconds) {
    /** Adds two counts with the same bounds. */
    public LatencyCounts plus(LatencyCounts other) {
        long[] sums = counts.clone();
        for (int i = 0; i < sums.length; i++) {
            sums[i] += other.counts[i];
        }
        return new LatencyCounts(boundsMs, sums, sumSeconds + other.sumSeconds);
    }

    /**
     * Returns about the time within which this share of the records arrived, in seconds: the bound of its bucket,
     * infinite for the last; NaN without records.
     */
    public double quantileSeconds(double share) {
        long all = 0;
        for (long count : counts) {
            all += count;
        }
        long passed = 0;
        for (int i = 0; i < boundsMs.length; i++) {
            passed += counts[i];
            if (all > 0 && passed >= share * all) {
                return boundsMs[i] / 1e3;
            }
        }
        return all == 0 ? Double.NaN : Double.POSITIVE_INFINITY;
    }
}
