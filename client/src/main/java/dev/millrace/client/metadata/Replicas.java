package dev.millrace.client.metadata;

import java.util.Arrays;

/**
 * The brokers that have the replicas of each partition of a topic; only {@code partitionsFor} and partitioners read
 * them. Topics with equal assignments can share one object.
 *
 * <p><b>Threads:</b> immutable; nothing writes to the arrays after construction.
 */
public final class Replicas {
    private static final int[] NONE = {};

    /**
     * For each partition, where its broker ids end in this array; then the ids of all partitions. {@link #NONE} if
     * there are no ids.
     */
    private final int[] all;

    /** The same array as {@link #all} while all replicas are in sync. */
    private final int[] inSync;

    private final int[] offline;
    private final int partitions;

    /** The hash is kept so that most different objects are told apart without reading their arrays. */
    private final int hash;

    /** Copies the broker ids, which are given by partition. */
    public Replicas(int[][] all, int[][] inSync, int[][] offline) {
        this.all = flat(all);
        int[] flatInSync = flat(inSync);
        this.inSync = Arrays.equals(this.all, flatInSync) ? this.all : flatInSync;
        this.offline = flat(offline);
        this.partitions = all.length;
        this.hash =
                31 * (31 * Arrays.hashCode(this.all) + Arrays.hashCode(this.inSync)) + Arrays.hashCode(this.offline);
    }

    private static int[] flat(int[][] brokers) {
        int length = brokers.length;
        for (int[] ofPartition : brokers) {
            length += ofPartition.length;
        }
        if (length == brokers.length) {
            return NONE;
        }
        int[] flat = new int[length];
        int end = brokers.length;
        for (int p = 0; p < brokers.length; p++) {
            System.arraycopy(brokers[p], 0, flat, end, brokers[p].length);
            end += brokers[p].length;
            flat[p] = end;
        }
        return flat;
    }

    /** Returns the broker ids of all replicas of a partition, the preferred leader first. */
    int[] all(int partition) {
        return brokers(all, partition);
    }

    int[] inSync(int partition) {
        return brokers(inSync, partition);
    }

    int[] offline(int partition) {
        return brokers(offline, partition);
    }

    private int[] brokers(int[] flat, int partition) {
        if (flat == NONE) {
            return NONE;
        }
        return Arrays.copyOfRange(flat, partition == 0 ? partitions : flat[partition - 1], flat[partition]);
    }

    @Override
    public boolean equals(Object other) {
        return this == other
                || (other instanceof Replicas that
                        && hash == that.hash
                        && partitions == that.partitions
                        && Arrays.equals(all, that.all)
                        && Arrays.equals(inSync, that.inSync)
                        && Arrays.equals(offline, that.offline));
    }

    @Override
    public int hashCode() {
        return hash;
    }
}
