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
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;

/**
 * Everything that the producer knows about the cluster at one moment. An image shares all unchanged topics and brokers
 * with the previous one, so the cost of a change depends on what it touches, not on what is known.
 *
 * <p><b>Threads:</b> immutable, except for the topic indexes, which all images of a producer share and which only grow:
 * only {@link ClusterImages} makes and publishes the next version, under its lock.
 */
public final class ClusterImage {
    private final int version;
    private final String clusterId;
    private final Map<Integer, Node> nodes;
    private final NameTrie topics;
    private final NameTrie missing;

    /** All images of a producer share this. */
    private final TopicIndexes indexes;

    private ClusterImage(
            int version,
            String clusterId,
            Map<Integer, Node> nodes,
            NameTrie topics,
            NameTrie missing,
            TopicIndexes indexes) {
        this.version = version;
        this.clusterId = clusterId;
        this.nodes = nodes;
        this.topics = topics;
        this.missing = missing;
        this.indexes = indexes;
    }

    /** Returns the image before the first metadata response: bootstrap servers under negative ids, no topics. */
    public static ClusterImage bootstrap(List<InetSocketAddress> servers) {
        Map<Integer, Node> nodes = new HashMap<>();
        int id = -1;
        for (InetSocketAddress server : servers) {
            nodes.put(id, new Node(id, server.getHostString(), server.getPort()));
            id--;
        }
        return new ClusterImage(0, null, nodes, NameTrie.empty(), NameTrie.empty(), new TopicIndexes());
    }

    /**
     * Returns the next image: the same topics with only the brokers of {@code other}, so that no partition has a
     * leader.
     */
    ClusterImage withNodesOf(ClusterImage other) {
        return new ClusterImage(version + 1, clusterId, other.nodes, topics, missing, indexes);
    }

    /** Whether only bootstrap servers are known, and no broker of the cluster. */
    public boolean isBootstrap() {
        return nodes.keySet().stream().allMatch(id -> id < 0);
    }

    /** Returns the version, which is one more than that of the previous image. */
    public int version() {
        return version;
    }

    /** Whether any broker or bootstrap server is known: none is while the names of the latter are resolved (KIP-909). */
    public boolean hasNodes() {
        return !nodes.isEmpty();
    }

    /** Returns the cluster's id; null if unknown. */
    public String clusterId() {
        return clusterId;
    }

    /** Returns the names of all known topics. */
    List<String> topicNames() {
        List<String> names = new ArrayList<>(topics.size());
        for (TopicImage topic : topics.entries()) {
            names.add(topic.name);
        }
        return names;
    }

    /** Returns the topic; null if unknown. */
    public TopicImage topic(String name) {
        return topics.get(name);
    }

    /** Returns the error of this topic in the last response that named it; null if there was none. */
    public ApiException error(String topic) {
        MissingTopic absent = missingTopic(topic);
        return absent == null ? null : absent.error();
    }

    /** Does the same if the response came after the image with this version. */
    public ApiException errorAfter(int imageVersion, String topic) {
        MissingTopic absent = missingTopic(topic);
        return absent == null || absent.imageVersion() <= imageVersion ? null : absent.error();
    }

    /** Returns the broker; null if unknown. */
    public Node node(int id) {
        return nodes.get(id);
    }

    public List<Node> nodes() {
        return new ArrayList<>(nodes.values());
    }

    /** Returns the leader of a partition; null while the partition has none or its broker is unknown. */
    public Node leader(String topic, int partition) {
        TopicImage image = topics.get(topic);
        return image == null || partition >= image.partitions() ? null : leader(image, partition);
    }

    /** Does the same for a topic of this image. */
    public Node leader(TopicImage topic, int partition) {
        int leader = topic.leader(partition);
        return leader == TopicImage.NO_LEADER ? null : nodes.get(leader); // a bootstrap server has the same number
    }

    /** Returns the next image. Leaders of a known topic id never return to an older epoch. */
    ClusterImage withDelta(ClusterDelta delta) {
        String nextClusterId = delta.clusterId() == null ? clusterId : delta.clusterId();
        return new ClusterImage(
                version + 1, nextClusterId, nodesWith(delta), topicsWith(delta), missingWith(delta), indexes);
    }

    private Map<Integer, Node> nodesWith(ClusterDelta delta) {
        boolean isSame = delta.nodes().size() == nodes.size()
                && delta.nodes().stream().allMatch(node -> node.equals(nodes.get(node.id())));
        if (delta.nodes().isEmpty() || isSame) {
            return nodes;
        }
        Map<Integer, Node> next = new HashMap<>();
        for (Node node : delta.nodes()) {
            next.put(node.id(), node);
        }
        return next;
    }

    private NameTrie topicsWith(ClusterDelta delta) {
        TopicImage[] described = new TopicImage[delta.topics().size()];
        int stillThere = 0;
        for (int i = 0; i < described.length; i++) {
            TopicImage answer = delta.topics().get(i);
            TopicImage known = topics.isEmpty() ? null : topics.get(answer.name, answer.hash);
            stillThere += known == null ? 0 : 1;
            described[i] = withAnswer(known != null ? known : lastKnownAs(answer), answer);
        }
        boolean areSomeGone = delta.complete() && stillThere < topics.size();
        if (areSomeGone || topics.isEmpty()) {
            NameTrie next = NameTrie.of(described);
            keepNumbersOfThoseGone(next);
            return next;
        }
        NameTrie.Editor next = topics.edit();
        for (TopicImage topic : described) {
            next.put(topic);
        }
        for (String name : delta.errors().keySet()) {
            TopicImage gone = next.remove(name);
            if (gone != null) {
                indexes.keep(gone);
            }
        }
        return next.toTrie();
    }

    private void keepNumbersOfThoseGone(NameTrie next) {
        for (TopicImage topic : topics.entries()) {
            if (next.get(topic.name, topic.hash) == null) {
                indexes.keep(topic);
            }
        }
    }

    private TopicImage withAnswer(TopicImage known, TopicImage answer) {
        return known == null ? answer.withIndex(indexes.getOrAssign(answer.name)) : known.withAnswer(answer);
    }

    /** Returns null without ids: the topic may have been created again, with epochs that look older. */
    private TopicImage lastKnownAs(TopicImage answer) {
        return answer.id().equals(Uuid.ZERO_UUID) ? null : lastKnown(answer.name);
    }

    private TopicImage lastKnown(String topic) {
        MissingTopic absent = missingTopic(topic);
        return absent == null ? null : absent.lastKnown();
    }

    /** Returns null if the last response that named this topic described it. */
    private MissingTopic missingTopic(String name) {
        return missing.isEmpty() ? null : (MissingTopic) missing.get(name);
    }

    private NameTrie missingWith(ClusterDelta delta) {
        NameTrie.Editor next = (delta.complete() ? NameTrie.empty() : missing).edit();
        if (!next.isEmpty()) {
            delta.topics().forEach(topic -> next.remove(topic.name));
        }
        delta.errors().forEach((topic, error) -> {
            TopicImage known = topics.get(topic);
            next.put(new MissingTopic(topic, error, version + 1, known != null ? known : lastKnown(topic)));
        });
        return next.toTrie();
    }

    /**
     * Whether this image, which is {@code older} with {@code delta}, differs from {@code older} in more than its
     * version.
     */
    boolean isDifferentFrom(ClusterImage older, ClusterDelta delta) {
        boolean isSame = hasSameTopicsAs(older)
                && missing.size() == older.missing.size()
                && delta.errors().keySet().stream().allMatch(topic -> older.missing.get(topic) != null);
        return !isSame;
    }

    /** Whether brokers and topics are identical objects: images share what did not change. */
    public boolean hasSameTopicsAs(ClusterImage other) {
        return nodes == other.nodes && topics == other.topics;
    }

    /**
     * Returns the next image, with the leaders that a broker named; this image if none of them has a newer epoch, the
     * id of a known topic and a known node.
     */
    ClusterImage withLeaderHints(List<ClusterDelta.LeaderHint> hints, List<Node> endpoints) {
        Map<Integer, Node> nextNodes = nodesWith(endpoints);
        NameTrie.Editor next = topics.edit();
        for (ClusterDelta.LeaderHint hint : hints) {
            TopicImage topic = next.get(hint.topic());
            boolean isOfThisTopic = topic != null && topic.id().equals(hint.topicId());
            if (isOfThisTopic && nextNodes.containsKey(hint.leader())) {
                next.put(topic.withLeader(hint.partition(), hint.leader(), hint.leaderEpoch()));
            }
        }
        NameTrie nextTopics = next.toTrie();
        if (nextTopics == topics) {
            return this;
        }
        return new ClusterImage(version + 1, clusterId, nextNodes, nextTopics, missing, indexes);
    }

    private Map<Integer, Node> nodesWith(List<Node> endpoints) {
        Map<Integer, Node> next = nodes;
        for (Node endpoint : endpoints) {
            if (!endpoint.equals(next.get(endpoint.id()))) {
                next = next == nodes ? new HashMap<>(nodes) : next;
                next.put(endpoint.id(), endpoint);
            }
        }
        return next;
    }

    /** Returns a topic in the form that {@code Producer.partitionsFor} returns. */
    public List<PartitionInfo> partitionInfos(TopicImage topic) {
        List<PartitionInfo> infos = new ArrayList<>(topic.partitions());
        for (int p = 0; p < topic.partitions(); p++) {
            infos.add(new PartitionInfo(
                    topic.name(),
                    p,
                    leader(topic, p),
                    nodesOf(topic.replicas().all(p)),
                    nodesOf(topic.replicas().inSync(p)),
                    nodesOf(topic.replicas().offline(p))));
        }
        return infos;
    }

    /** Returns what a {@code Partitioner} sees: all brokers and topics. Takes time for each partition. */
    public Cluster toCluster() {
        List<PartitionInfo> partitions = new ArrayList<>();
        for (TopicImage topic : topics.entries()) {
            partitions.addAll(partitionInfos(topic));
        }
        return new Cluster(clusterId, nodes.values(), partitions, Set.of(), Set.of());
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
