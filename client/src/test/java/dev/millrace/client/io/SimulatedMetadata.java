package dev.millrace.client.io;

import dev.millrace.client.io.BrokerLink.MetadataHandler;
import dev.millrace.client.io.SimulatedTopic.Described;
import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.Replicas;
import dev.millrace.client.metadata.TopicImage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** The brokers' answers to requests for metadata: of what they know, which may be old; some come late, or never. */
final class SimulatedMetadata {
    private static final int LATEST_MS = 2_000;

    private final SimulatedCluster cluster;
    private final Random random;
    private final List<Answer> pending = new ArrayList<>();
    private boolean losing;

    SimulatedMetadata(SimulatedCluster cluster) {
        this.cluster = cluster;
        this.random = cluster.random();
    }

    private record Answer(long dueMs, Runnable delivery) {}

    /** From here on requests are lost, and answers come late, or from brokers that are just starting. */
    void lose() {
        losing = true;
    }

    boolean isPending() {
        return !pending.isEmpty();
    }

    void ask(boolean complete, MetadataHandler handler) {
        int delayMs = losing && cluster.fault() ? random.nextInt(LATEST_MS) : 0;
        if (losing && cluster.fault()) {
            ClusterDelta ofStarting = new ClusterDelta("c", List.of(), List.of(), Map.of(), complete);
            answerIn(
                    delayMs,
                    random.nextBoolean()
                            ? () -> handler.onError(new NetworkException("lost"))
                            : () -> handler.onMetadata(ofStarting));
            return;
        }
        ClusterDelta delta = describe(complete);
        answerIn(delayMs, () -> handler.onMetadata(delta));
    }

    private ClusterDelta describe(boolean complete) {
        List<Node> nodes = cluster.nodes();
        Described said = cluster.fault() ? cluster.topic.stale() : cluster.topic.describe();
        if (cluster.fault() && random.nextInt(3) == 0) { // a broker that does not know the topic yet
            Map<String, ApiException> errors =
                    Map.of(SimulatedCluster.TOPIC, new UnknownTopicOrPartitionException("simulated"));
            return new ClusterDelta("c", nodes, List.of(), errors, complete);
        }
        int[][] nobody = new int[said.leaders().length][0];
        Replicas replicas = new Replicas(nobody, nobody, nobody);
        TopicImage described =
                new TopicImage(SimulatedCluster.TOPIC, said.id(), said.leaders(), said.epochs(), replicas);
        return new ClusterDelta("c", nodes, List.of(described), Map.of(), complete);
    }

    private void answerIn(int delayMs, Runnable delivery) {
        pending.add(new Answer(cluster.nowMs() + delayMs, delivery));
    }

    void deliverDue() {
        long nowMs = cluster.nowMs();
        List<Answer> due = pending.stream().filter(each -> each.dueMs <= nowMs).toList();
        pending.removeAll(due);
        due.forEach(each -> each.delivery.run());
    }
}
