package dev.millrace.jmh;

import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.Replicas;
import dev.millrace.client.metadata.TopicImage;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;

/** The same cluster as {@link KafkaMetadata}, in our classes. */
public final class MillraceMetadata {
    private MillraceMetadata() {}

    /** Cluster images; the current one knows these topics. */
    public static ClusterImages images(List<String> topics, int partitions) {
        ClusterImages images = new ClusterImages(ClusterImage.bootstrap(List.of()));
        images.applyDelta(delta(topics, partitions));
        return images;
    }

    /** What the broker's answer to a request for these topics becomes. */
    public static ClusterDelta delta(List<String> topics, int partitions) {
        return new ClusterDelta(
                "cluster",
                List.of(new Node(KafkaMetadata.BROKER, "localhost", 9092)),
                topics.stream().map(topic -> topic(topic, partitions)).toList(),
                Map.of(),
                true);
    }

    private static TopicImage topic(String name, int partitions) {
        int[] leaders = new int[partitions];
        Arrays.fill(leaders, KafkaMetadata.BROKER);
        int[][] replicas = new int[partitions][];
        Arrays.fill(replicas, new int[] {KafkaMetadata.BROKER});
        int[][] offline = new int[partitions][0];
        return new TopicImage(
                name, Uuid.randomUuid(), leaders, new int[partitions], new Replicas(replicas, replicas, offline));
    }
}
