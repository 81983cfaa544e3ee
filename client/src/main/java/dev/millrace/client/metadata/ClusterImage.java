package dev.millrace.client.metadata;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.errors.ApiException;

/**
 * Everything that the producer knows about the cluster at one moment.
 *
 * <p><b>Threads:</b> immutable, except for the topic indexes, which all images of a producer share and which only grow.
 * {@link ClusterImages} makes and publishes each new version.
 */
public final class ClusterImage {
    private final int version;
    private final String clusterId;
    private final Map<Integer, Node> nodes;
    private final TopicTable topics;
    private final Map<String, Missing> missing;

    /** Shared by all images of a producer. */
    private final TopicIndexes indexes;

    /**
     * A topic that the last metadata response named with an error.
     *
     * @param lastKnown the topic as last described, so that leader epochs do not go back when it is described again;
     *     null if it never was
     */
    private record Missing(ApiException error, TopicImage lastKnown) {}

    private ClusterImage(
            int version,
            String clusterId,
            Map<Integer, Node> nodes,
            TopicTable topics,
            Map<String, Missing> missing,
            TopicIndexes indexes) {
        this.version = version;
        this.clusterId = clusterId;
        this.nodes = nodes;
        this.topics = topics;
        this.missing = missing;
        this.indexes = indexes;
    }

    /** The image before the first metadata response: bootstrap servers under negative ids, no topics. */
    public static ClusterImage bootstrap(List<InetSocketAddress> servers) {
        Map<Integer, Node> nodes = new HashMap<>();
        int id = -1;
        for (InetSocketAddress server : servers) {
            nodes.put(id, new Node(id, server.getHostString(), server.getPort()));
            id--;
        }
        return new ClusterImage(0, null, nodes, TopicTable.EMPTY, Map.of(), new TopicIndexes());
    }

    /** The next image: the same topics, but only the brokers of {@code other}, so that no partition has a leader. */
    ClusterImage withNodesOf(ClusterImage other) {
        return new ClusterImage(version + 1, clusterId, other.nodes, topics, missing, indexes);
    }

    /** Whether only bootstrap servers are known, and no broker of the cluster. */
    public boolean isBootstrap() {
        return nodes.keySet().stream().allMatch(id -> id < 0);
    }

    /** Each image has the version of the one before plus one. */
    public int version() {
        return version;
    }

    /** Null if unknown. */
    public TopicImage topic(String name) {
        return topics.get(name);
    }

    /** The error of this topic in the last response that named it; null if there was none. */
    public ApiException error(String topic) {
        Missing absent = missing.get(topic);
        return absent == null ? null : absent.error();
    }

    /** Null if unknown. */
    public Node node(int id) {
        return nodes.get(id);
    }

    public List<Node> nodes() {
        return new ArrayList<>(nodes.values());
    }

    /** The leader of a partition; null while the partition has none, or its broker is unknown. */
    public Node leader(String topic, int partition) {
        TopicImage image = topics.get(topic);
        if (image == null || partition >= image.partitions() || image.leader(partition) == TopicImage.NO_LEADER) {
            return null;
        }
        return nodes.get(image.leader(partition));
    }

    /** The next image. Leaders of a known topic id never go back to an older epoch. */
    ClusterImage withDelta(ClusterDelta delta) {
        Map<Integer, Node> nextNodes = nodes;
        if (!delta.nodes().isEmpty()) {
            nextNodes = new HashMap<>();
            for (Node node : delta.nodes()) {
                nextNodes.put(node.id(), node);
            }
        }
        Map<String, TopicImage> nextTopics = delta.complete() ? new HashMap<>() : topics.toMap();
        Map<String, Missing> nextMissing = delta.complete() ? new HashMap<>() : new HashMap<>(missing);
        for (TopicImage topic : delta.topics()) {
            TopicImage indexed = topic.withIndex(indexes.getOrAssign(topic.name()));
            nextTopics.put(topic.name(), indexed.withNewerLeadersOf(lastKnown(topic.name())));
            nextMissing.remove(topic.name());
        }
        delta.errors().forEach((topic, error) -> {
            nextTopics.remove(topic);
            nextMissing.put(topic, new Missing(error, lastKnown(topic)));
        });
        String nextClusterId = delta.clusterId() == null ? clusterId : delta.clusterId();
        TopicTable table = new TopicTable(nextTopics.values());
        return new ClusterImage(version + 1, nextClusterId, nextNodes, table, nextMissing, indexes);
    }

    private TopicImage lastKnown(String topic) {
        TopicImage known = topics.get(topic);
        Missing absent = missing.get(topic);
        return known == null && absent != null ? absent.lastKnown() : known;
    }

    /**
     * Whether this image, which is {@code older} with {@code delta}, differs from {@code older} in more than its
     * version.
     */
    boolean isDifferentFrom(ClusterImage older, ClusterDelta delta) {
        if (!nodes.equals(older.nodes)
                || topics.size() != older.topics.size()
                || !missing.keySet().equals(older.missing.keySet())) {
            return true;
        }
        return delta.topics().stream().anyMatch(t -> !topics.get(t.name()).isSameAs(older.topics.get(t.name())));
    }

    /**
     * The next image, with the leaders that a broker named; this image if none of them has a newer epoch, the id of a
     * known topic and a known node.
     */
    ClusterImage withLeaderHints(List<ClusterDelta.LeaderHint> hints, List<Node> endpoints) {
        Map<Integer, Node> nextNodes = new HashMap<>(nodes);
        endpoints.forEach(node -> nextNodes.put(node.id(), node));
        Map<String, TopicImage> changed = new HashMap<>();
        for (ClusterDelta.LeaderHint hint : hints) {
            TopicImage topic = changed.getOrDefault(hint.topic(), topics.get(hint.topic()));
            boolean isOfThisTopic = topic != null && topic.id().equals(hint.topicId());
            if (isOfThisTopic && nextNodes.containsKey(hint.leader())) {
                TopicImage next = topic.withLeader(hint.partition(), hint.leader(), hint.leaderEpoch());
                if (next != topic) {
                    changed.put(hint.topic(), next);
                }
            }
        }
        if (changed.isEmpty()) {
            return this;
        }
        Map<String, TopicImage> nextTopics = topics.toMap();
        nextTopics.putAll(changed);
        TopicTable table = new TopicTable(nextTopics.values());
        return new ClusterImage(version + 1, clusterId, nextNodes, table, missing, indexes);
    }

    /** A topic in the form that {@code Producer.partitionsFor} returns. */
    public List<PartitionInfo> partitionInfos(TopicImage topic) {
        List<PartitionInfo> infos = new ArrayList<>(topic.partitions());
        for (int p = 0; p < topic.partitions(); p++) {
            infos.add(new PartitionInfo(
                    topic.name(),
                    p,
                    nodes.get(topic.leader(p)),
                    nodesOf(topic.replicas().all()[p]),
                    nodesOf(topic.replicas().inSync()[p]),
                    nodesOf(topic.replicas().offline()[p])));
        }
        return infos;
    }

    /** What a {@code Partitioner} gets to see of this image: all brokers, and one topic. */
    public Cluster clusterOf(TopicImage topic) {
        return new Cluster(clusterId, nodes.values(), partitionInfos(topic), Set.of(), Set.of());
    }

    private Node[] nodesOf(int[] ids) {
        Node[] found = new Node[ids.length];
        for (int i = 0; i < ids.length; i++) {
            Node node = nodes.get(ids[i]);
            found[i] = node != null ? node : new Node(ids[i], "", -1);
        }
        return found;
    }
}
