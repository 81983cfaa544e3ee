package dev.millrace.client.metadata;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;

/** Topics and deltas in as few words as a test can do with. */
final class TestTopics {
    static final Uuid ID = new Uuid(1, 1);
    static final Uuid OTHER_ID = new Uuid(2, 2);

    private TestTopics() {}

    /** One partition for each pair of leader and epoch. */
    static TopicImage topic(String name, Uuid id, int[] leaders, int[] epochs) {
        int[][] replicas = new int[leaders.length][];
        Arrays.setAll(replicas, p -> new int[] {leaders[p]});
        int[][] offline = new int[leaders.length][0];
        return new TopicImage(name, id, leaders, epochs, new Replicas(replicas, replicas, offline));
    }

    static TopicImage topic(String name, int leader, int epoch) {
        return topic(name, ID, new int[] {leader}, new int[] {epoch});
    }

    static ClusterDelta partial(TopicImage... topics) {
        return new ClusterDelta(null, List.of(), List.of(topics), Map.of(), false);
    }

    static ClusterDelta complete(TopicImage... topics) {
        return new ClusterDelta(null, List.of(), List.of(topics), Map.of(), true);
    }

    static ClusterDelta nodes(Node... nodes) {
        return new ClusterDelta("cluster", List.of(nodes), List.of(), Map.of(), false);
    }

    static Node node(int id) {
        return new Node(id, "host" + id, 9092);
    }
}
