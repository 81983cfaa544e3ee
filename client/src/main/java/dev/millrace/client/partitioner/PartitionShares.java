package dev.millrace.client.partitioner;

import java.util.Arrays;

/**
 * Which share of a topic's keyless records each partition gets: the running sum of the partitions' weights.
 *
 * <p><b>Threads:</b> immutable.
 */
final class PartitionShares {
    /** 2^64 divided by the golden ratio: multiples of it, modulo 2^64, lie as evenly as any sequence can. */
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    private final int imageVersion;
    private final int[] partitions;
    private final long[] weightsUpTo;

    /**
     * Weights as KIP-794 has them: how much shorter a partition's queue is than the longest one, plus one.
     *
     * @param partitions those to choose among, at least one
     * @param backlog for each of them, how many batches wait
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

    /** The partition for a turn. Among any number of successive turns each partition has very nearly its share. */
    int partitionFor(long turn) {
        long total = weightsUpTo[weightsUpTo.length - 1];
        long point = Math.multiplyHigh((turn * GOLDEN) >>> 1, total << 1); // as far into total as the turn is into 2^64
        int found = Arrays.binarySearch(weightsUpTo, point);
        return partitions[found >= 0 ? found + 1 : -found - 1]; // the first whose sum is greater
    }
}
