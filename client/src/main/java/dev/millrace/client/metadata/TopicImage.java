package dev.millrace.client.metadata;

import java.util.Arrays;
import org.apache.kafka.common.Uuid;

/**
 * One topic as an answer of the cluster described it. Leaders and their epochs are flat arrays by partition, not an object
 * a partition.
 *
 * <p><b>Threads:</b> immutable; the arrays are never written after construction.
 */
public final class TopicImage {
    /** The leader of a partition that has none at the moment. */
    public static final int NO_LEADER = -1;

    /** The {@link #index} of a topic that is in no {@link ClusterImage}. */
    private static final int NO_INDEX = -1;

    private final String name;
    private final int index;
    private final Uuid id;
    private final int[] leaders;
    private final int[] leaderEpochs;
    private final Replicas replicas;

    /** The broker ids of each partition's replicas; only {@code partitionsFor} and partitioners look at them. */
    public record Replicas(int[][] all, int[][] inSync, int[][] offline) {}

    /**
     * Takes the arrays over; they must not change any more.
     *
     * @param id {@link Uuid#ZERO_UUID} from brokers without topic ids
     * @param leaders broker id by partition, or {@link #NO_LEADER}
     * @param leaderEpochs by partition; -1 where unknown
     */
    public TopicImage(String name, Uuid id, int[] leaders, int[] leaderEpochs, Replicas replicas) {
        this(name, NO_INDEX, id, leaders, leaderEpochs, replicas);
    }

    private TopicImage(String name, int index, Uuid id, int[] leaders, int[] leaderEpochs, Replicas replicas) {
        this.name = name;
        this.index = index;
        this.id = id;
        this.leaders = leaders;
        this.leaderEpochs = leaderEpochs;
        this.replicas = replicas;
    }

    public String name() {
        return name;
    }

    /** A number that belongs to this name for as long as the producer lives: see {@link TopicIndexes}. */
    public int index() {
        return index;
    }

    public Uuid id() {
        return id;
    }

    public int partitions() {
        return leaders.length;
    }

    /** Broker id, or {@link #NO_LEADER}. */
    public int leader(int partition) {
        return leaders[partition];
    }

    public int leaderEpoch(int partition) {
        return leaderEpochs[partition];
    }

    public Replicas replicas() {
        return replicas;
    }

    public boolean hasAllLeaders() {
        for (int leader : leaders) {
            if (leader == NO_LEADER) {
                return false;
            }
        }
        return true;
    }

    TopicImage withIndex(int newIndex) {
        return new TopicImage(name, newIndex, id, leaders, leaderEpochs, replicas);
    }

    /** This topic, but with an older image's leader wherever that one's epoch is newer: an answer may be stale. */
    TopicImage withNewerLeadersOf(TopicImage older) {
        if (older == null || !older.id.equals(id)) {
            return this;
        }
        int[] mergedLeaders = leaders;
        int[] mergedEpochs = leaderEpochs;
        for (int p = 0; p < Math.min(partitions(), older.partitions()); p++) {
            if (leaderEpochs[p] >= 0 && older.leaderEpochs[p] > leaderEpochs[p]) {
                if (mergedLeaders == leaders) {
                    mergedLeaders = leaders.clone();
                    mergedEpochs = leaderEpochs.clone();
                }
                mergedLeaders[p] = older.leaders[p];
                mergedEpochs[p] = older.leaderEpochs[p];
            }
        }
        return mergedLeaders == leaders ? this : new TopicImage(name, index, id, mergedLeaders, mergedEpochs, replicas);
    }

    /** Whether the other describes the same partitions with the same leaders and replicas. */
    boolean isSameAs(TopicImage other) {
        return other != null
                && id.equals(other.id)
                && Arrays.equals(leaders, other.leaders)
                && Arrays.equals(leaderEpochs, other.leaderEpochs)
                && Arrays.deepEquals(replicas.all, other.replicas.all)
                && Arrays.deepEquals(replicas.inSync, other.replicas.inSync)
                && Arrays.deepEquals(replicas.offline, other.replicas.offline);
    }

    /** This topic with another leader of one partition, or this very object if the hint is not newer. */
    TopicImage withLeader(int partition, int leader, int leaderEpoch) {
        if (partition >= partitions() || leaderEpoch <= leaderEpochs[partition]) {
            return this;
        }
        int[] newLeaders = Arrays.copyOf(leaders, leaders.length);
        int[] newEpochs = Arrays.copyOf(leaderEpochs, leaderEpochs.length);
        newLeaders[partition] = leader;
        newEpochs[partition] = leaderEpoch;
        return new TopicImage(name, index, id, newLeaders, newEpochs, replicas);
    }
}
