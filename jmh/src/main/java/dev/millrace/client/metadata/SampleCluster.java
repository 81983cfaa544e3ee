package dev.millrace.client.metadata;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;

/**
 * The clusters of KAFKA-14735: topics of ten partitions with three replicas each, in three zones, on so many brokers
 * that each has about 10,000 replicas.
 */
final class SampleCluster {
    static final int PARTITIONS = 10;
    private static final int REPLICAS_PER_PARTITION = 3;
    private static final int REPLICAS_PER_BROKER = 10_000;
    private static final int ZONES = 3;

    /** Replicas are placed in the same way each time. */
    private static final long SEED = 14_735;

    private final int brokers;
    private final List<Topic> topics;

    /** A topic: the brokers of each partition's replicas, the leader first, and one leader epoch for all of them. */
    record Topic(String name, Uuid id, int[][] replicas, int[][] inSync, int leaderEpoch) {
        int leader(int partition) {
            return inSync[partition][0];
        }

        Topic withNextEpoch() {
            return new Topic(name, id, replicas, inSync, leaderEpoch + 1);
        }

        /** Leaders move to the next replica that is left. */
        Topic without(boolean[] lost) {
            int[][] left = Arrays.stream(inSync)
                    .map(all -> Arrays.stream(all).filter(id -> !lost[id]).toArray())
                    .toArray(int[][]::new);
            return new Topic(name, id, replicas, left, leaderEpoch + 1);
        }

        TopicImage toImage() {
            int[] leaders = IntStream.range(0, PARTITIONS).map(this::leader).toArray();
            int[] epochs = new int[PARTITIONS];
            Arrays.fill(epochs, leaderEpoch);
            return new TopicImage(name, id, leaders, epochs, new Replicas(replicas, inSync, new int[PARTITIONS][0]));
        }
    }

    SampleCluster(int topicCount) {
        int zoneSize = topicCount * PARTITIONS * REPLICAS_PER_PARTITION / REPLICAS_PER_BROKER / ZONES;
        brokers = ZONES * Math.max(1, zoneSize);
        Random random = new Random(SEED);
        topics = IntStream.range(0, topicCount)
                .mapToObj(i -> topic("topic-" + i, random))
                .toList();
    }

    /** Three brokers in a row are in three zones. */
    private Topic topic(String name, Random random) {
        int[][] replicas = new int[PARTITIONS][REPLICAS_PER_PARTITION];
        for (int[] ofPartition : replicas) {
            int first = random.nextInt(brokers);
            Arrays.setAll(ofPartition, r -> (first + r) % brokers);
        }
        return new Topic(name, new Uuid(random.nextLong(), random.nextLong()), replicas, replicas, 0);
    }

    List<Topic> topics() {
        return topics;
    }

    List<Node> nodes() {
        return IntStream.range(0, brokers)
                .mapToObj(id -> new Node(id, "broker-" + id, 9092))
                .toList();
    }

    /** A new leader in one topic. */
    List<Topic> oneTopicChanged() {
        return List.of(topics.get(topics.size() / 2).withNextEpoch());
    }

    /** The topics with a replica on broker 0, after its loss. */
    List<Topic> brokerLost() {
        return afterLossOf(1);
    }

    /** The topics of {@link #brokerLost}, after the broker has come back and leads again. */
    List<Topic> brokerBack() {
        return brokerLost().stream()
                .map(topic -> new Topic(
                        topic.name(), topic.id(), topic.replicas(), topic.replicas(), topic.leaderEpoch() + 1))
                .toList();
    }

    /** The topics with a replica on a broker of the first zone, after its loss: nearly all. */
    List<Topic> zoneLost() {
        return afterLossOf(brokers);
    }

    private List<Topic> afterLossOf(int firstBrokers) {
        boolean[] lost = new boolean[brokers];
        for (int id = 0; id < firstBrokers; id += ZONES) {
            lost[id] = true;
        }
        return topics.stream()
                .filter(topic -> Arrays.stream(topic.replicas())
                        .anyMatch(ids -> Arrays.stream(ids).anyMatch(id -> lost[id])))
                .map(topic -> topic.without(lost))
                .toList();
    }
}
