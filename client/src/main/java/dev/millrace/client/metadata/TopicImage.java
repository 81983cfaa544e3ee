package dev.millrace.client.metadata;

import java.util.Arrays;
import org.apache.kafka.common.Uuid;

/**
 * One topic as a metadata response described it. Leaders and leader epochs are in one flat array, not in an object per
 * partition.
 *
 * <p><b>Threads:</b> immutable; nothing writes to the array after construction.
 */
public sealed class TopicImage permits MissingTopic {
    /**
     * 2^32 divided by the golden ratio; spreads names that differ only in their last letters (Knuth, volume 3, 6.4).
     */
    private static final int HASH_MULTIPLIER = 0x9E3779B9;

    /** The leader of a partition that has none now. */
    public static final int NO_LEADER = -1;

    /** The {@link #index} of a topic that is not in a {@link ClusterImage} yet. */
    static final int NO_INDEX = -1;

    final String name;

    /** The hash is kept so that a look-up reads no other name than its own, unless the hashes are equal. */
    final int hash;

    private final int index;
    private final Uuid id;

    /** The leader and the leader epoch of each partition, in turn. */
    private final int[] leadership;

    private final Replicas replicas;

    /**
     * Creates a topic; copies the arrays.
     *
     * @param id {@link Uuid#ZERO_UUID} from brokers without topic ids
     * @param leaders broker id by partition, or {@link #NO_LEADER}
     * @param leaderEpochs by partition; -1 where unknown
     */
    public TopicImage(String name, Uuid id, int[] leaders, int[] leaderEpochs, Replicas replicas) {
        this(name, NO_INDEX, id, inTurn(leaders, leaderEpochs), replicas);
    }

    TopicImage(String name, int index, Uuid id, int[] leadership, Replicas replicas) {
        this(name, hash(name), index, id, leadership, replicas);
    }

    private TopicImage(String name, int hash, int index, Uuid id, int[] leadership, Replicas replicas) {
        this.name = name;
        this.hash = hash;
        this.index = index;
        this.id = id;
        this.leadership = leadership;
        this.replicas = replicas;
    }

    private static int[] inTurn(int[] leaders, int[] leaderEpochs) {
        int[] both = new int[2 * leaders.length];
        for (int p = 0; p < leaders.length; p++) {
            both[2 * p] = leaders[p];
            both[2 * p + 1] = leaderEpochs[p];
        }
        return both;
    }

    /** Returns the hash of a name in a {@link NameTrie}. */
    static int hash(String name) {
        return name.hashCode() * HASH_MULTIPLIER;
    }

    public final String name() {
        return name;
    }

    /** Returns a number that belongs to this name for the producer's lifetime: see {@link TopicIndexes}. */
    public final int index() {
        return index;
    }

    public final Uuid id() {
        return id;
    }

    public final int partitions() {
        return leadership.length / 2;
    }

    /** Returns the broker id, or {@link #NO_LEADER}. */
    public final int leader(int partition) {
        return leadership[2 * partition];
    }

    public final int leaderEpoch(int partition) {
        return leadership[2 * partition + 1];
    }

    final Replicas replicas() {
        return replicas;
    }

    public final boolean hasAllLeaders() {
        for (int p = 0; p < partitions(); p++) {
            if (leader(p) == NO_LEADER) {
                return false;
            }
        }
        return true;
    }

    final TopicImage withIndex(int newIndex) {
        return new TopicImage(name, hash, newIndex, id, leadership, replicas);
    }

    /**
     * Returns this topic as an answer describes it, under the same index; this object if nothing is new. The answer may
     * be stale, so a partition keeps a leader whose epoch is newer than the answer's. Epochs of another topic id cannot
     * be compared; then everything is taken from the answer.
     */
    final TopicImage withAnswer(TopicImage answer) {
        boolean isSameTopic = id.equals(answer.id);
        int[] newest = isSameTopic ? newest(leadership, answer.leadership) : answer.leadership;
        boolean isSameAssignment = replicas.equals(answer.replicas);
        if (isSameTopic && newest == leadership && isSameAssignment) {
            return this;
        }
        return new TopicImage(name, hash, index, answer.id, newest, isSameAssignment ? replicas : answer.replicas);
    }

    /** Returns one of the two arrays if it has everything that is newest. */
    private static int[] newest(int[] known, int[] answered) {
        if (Arrays.equals(known, answered)) {
            return known;
        }
        int[] newest = answered;
        for (int i = 0; i < Math.min(known.length, answered.length); i += 2) {
            if (answered[i + 1] >= 0 && known[i + 1] > answered[i + 1]) {
                newest = newest == answered ? answered.clone() : newest;
                newest[i] = known[i];
                newest[i + 1] = known[i + 1];
            }
        }
        return newest != answered && Arrays.equals(known, newest) ? known : newest;
    }

    /** Returns this topic with another leader of one partition; this object if {@code leaderEpoch} is not newer. */
    final TopicImage withLeader(int partition, int leader, int leaderEpoch) {
        if (partition >= partitions() || leaderEpoch <= leaderEpoch(partition)) {
            return this;
        }
        int[] newest = leadership.clone();
        newest[2 * partition] = leader;
        newest[2 * partition + 1] = leaderEpoch;
        return new TopicImage(name, hash, index, id, newest, replicas);
    }
}
