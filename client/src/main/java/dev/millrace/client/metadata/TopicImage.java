package dev.millrace.client.metadata;

import java.util.Arrays;
import org.apache.kafka.common.Uuid;

/**
 * One topic as a metadata response described it. Leaders and leader epochs are flat arrays indexed by partition, not an
 * object per partition.
 *
 * <p><b>Threads:</b> immutable; nothing writes to the arrays after construction.
 */
public final class TopicImage {
    /** The leader of a partition that has none now. */
    public static final int NO_LEADER = -1;

    /** The {@link #index} of a topic that is not in a {@link ClusterImage} yet. */
    private static final int NO_INDEX = -1;

    private final String name;
    private final int index;
    private final Uuid id;
    private final int[] leaders;
    private final int[] leaderEpochs;
    private final Replicas replicas;

    /** The broker ids of each partition's replicas; only {@code partitionsFor} and partitioners read them. */
    public record Replicas(int[][] all, int[][] inSync, int[][] offline) {}

    /**
     * Keeps the arrays; the caller must not change them any more.
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

    /** A number that belongs to this name for the producer's lifetime: see {@link TopicIndexes}. */
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

    /**
     * This topic, but in each partition of which {@code known} has a newer leader epoch, with the leader of
     * {@code known}: a metadata response may be stale. Epochs of another topic id cannot be compared; then this topic
     * as it is.
     */
    TopicImage withNewerLeadersOf(TopicImage known) {
        if (known == null || !known.id.equals(id)) {
            return this;
        }
        int[] mergedLeaders = leaders;
        int[] mergedEpochs = leaderEpochs;
        for (int p = 0; p < Math.min(partitions(), known.partitions()); p++) {
            if (leaderEpochs[p] >= 0 && known.leaderEpochs[p] > leaderEpochs[p]) {
                if (mergedLeaders == leaders) {
                    mergedLeaders = leaders.clone();
                    mergedEpochs = leaderEpochs.clone();
                }
                mergedLeaders[p] = known.leaders[p];
                mergedEpochs[p] = known.leaderEpochs[p];
            }
        }
        return mergedLeaders == leaders ? this : new TopicImage(name, index, id, mergedLeaders, mergedEpochs, replicas);
    }

    /** Whether both have the same id, partitions, leaders, leader epochs and replicas. */
    boolean isSameAs(TopicImage other) {
        return other != null
                && id.equals(other.id)
                && Arrays.equals(leaders, other.leaders)
                && Arrays.equals(leaderEpochs, other.leaderEpochs)
                && Arrays.deepEquals(replicas.all, other.replicas.all)
                && Arrays.deepEquals(replicas.inSync, other.replicas.inSync)
                && Arrays.deepEquals(replicas.offline, other.replicas.offline);
    }

    /** This topic with another leader of one partition; this object if {@code leaderEpoch} is not newer. */
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
