package dev.millrace.client.partitioner;

import java.util.Arrays;

/**
 * The share that each partition gets of a topic's records without a key: the running sum of the partitions' weights.
 *
 * <p><b>Threads:</b> immutable.
 */
final class PartitionShares {
    /** 2^64 divided by the golden ratio; no other number's multiples, modulo 2^64, are spread more evenly. */
    private static final long TURN_MULTIPLIER = 0x9E3779B97F4A7C15L;

    private final int imageVersion;
    private final int[] partitions;
    private final long[] weightsUpTo;

    /**
     * Computes weights as in KIP-794: one plus the difference between the longest queue and the partition's queue.
     *
     * @param imageVersion version of the image that {@code partitions} are from
     * @param partitions the partitions to choose from, at least one
     * @param backlog the number of batches that wait, for each of {@code partitions}
     */
    PartitionShares(int imageVersion, int[] partitions, int[] backlog) {
        this.imageVersion = imageVersion;
        this.partitions = partitions;
        this.weightsUpTo = new long[partitions.length];
        int longest = 0;
        for (int waiting : backlog) {
            longest = Math.max(longest, waiting);
        }
        long sum = 0;
        for (int i = 0; i < partitions.length; i++) {
            sum += 1 + longest - backlog[i];
            weightsUpTo[i] = sum;
        }
    }

    int imageVersion() {
        return imageVersion;
    }

    /** Returns the partition for a turn. In any run of successive turns, each partition gets very nearly its share. */
    int partitionFor(long turn) {
        long total = weightsUpTo[weightsUpTo.length - 1];
        long point = Math.multiplyHigh(
                (turn * TURN_MULTIPLIER) >>> 1, total << 1); // as far into total as the turn is into 2^64
        int found = Arrays.binarySearch(weightsUpTo, point);
        return partitions[found >= 0 ? found + 1 : -found - 1]; // the first whose sum is greater
    }
}
