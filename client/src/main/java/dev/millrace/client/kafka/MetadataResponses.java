package dev.millrace.client.kafka;

import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.Replicas;
import dev.millrace.client.metadata.TopicImage;
import dev.millrace.kafka.common.message.MetadataResponseData.MetadataResponsePartition;
import dev.millrace.kafka.common.message.MetadataResponseData.MetadataResponseTopic;
import dev.millrace.kafka.common.protocol.Errors;
import dev.millrace.kafka.common.requests.MetadataResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns metadata responses into deltas of the image. */
final class MetadataResponses {
    private static final Logger log = LoggerFactory.getLogger(MetadataResponses.class);
    private static final int[] NO_BROKERS = {};

    /** A number that no topic has: an image of so many partitions would use up the memory. */
    private static final int TOO_MANY_PARTITIONS = 1_000_000;

    private MetadataResponses() {}

    /**
     * Returns the delta for a response; {@code complete} if the request named all topics in use.
     *
     * @throws IllegalArgumentException the response makes no sense
     */
    static ClusterDelta toDelta(MetadataResponse response, boolean complete) {
        List<TopicImage> topics = new ArrayList<>();
        Map<String, ApiException> errors = new HashMap<>();
        Map<Replicas, Replicas> assignments = new HashMap<>();
        for (MetadataResponseTopic topic : response.data().topics()) {
            Errors error = Errors.forCode(topic.errorCode());
            if (topic.name() == null || (topic.name().isEmpty() && error == Errors.NONE)) {
                throw new IllegalArgumentException("A topic has no name; its id is " + topic.topicId());
            }
            if (error == Errors.NONE && topic.partitions().isEmpty()) { // a topic that is being created or deleted
                errors.put(topic.name(), Errors.LEADER_NOT_AVAILABLE.exception());
            } else if (error == Errors.NONE) {
                topics.add(image(topic, assignments));
            } else {
                errors.put(topic.name(), exception(error, topic.name()));
            }
        }
        return new ClusterDelta(response.clusterId(), connectable(response.brokers()), topics, errors, complete);
    }

    /** Leaves out other brokers, so that only their partitions have no leader and all others continue. */
    private static List<Node> connectable(Collection<Node> brokers) {
        List<Node> connectable = new ArrayList<>();
        for (Node broker : brokers) {
            if (BrokerConnections.isConnectable(broker)) {
                connectable.add(broker);
            } else {
                log.warn("The cluster names a broker to which nobody can connect; it is left out: {}", broker);
            }
        }
        return connectable;
    }

    /** As in the stock client, exceptions that can name topics name this one. */
    private static ApiException exception(Errors error, String topic) {
        return switch (error) {
            case TOPIC_AUTHORIZATION_FAILED -> new TopicAuthorizationException(topic);
            case INVALID_TOPIC_EXCEPTION -> new InvalidTopicException(Set.of(topic));
            default -> error.exception();
        };
    }

    /** Topics with equal assignments share the replicas. */
    private static TopicImage image(MetadataResponseTopic topic, Map<Replicas, Replicas> assignments) {
        int partitions = 0;
        for (MetadataResponsePartition partition : topic.partitions()) {
            int p = partition.partitionIndex();
            if (p < 0 || p >= TOO_MANY_PARTITIONS) {
                throw new IllegalArgumentException("Partition " + p + " of topic " + topic.name());
            }
            partitions = Math.max(partitions, p + 1);
        }
        int[] leaders = new int[partitions];
        int[] leaderEpochs = new int[partitions];
        int[][] all = new int[partitions][];
        int[][] inSync = new int[partitions][];
        int[][] offline = new int[partitions][];
        Arrays.fill(leaders, TopicImage.NO_LEADER); // also for partitions missing from the response
        Arrays.fill(leaderEpochs, -1);
        Arrays.fill(all, NO_BROKERS);
        Arrays.fill(inSync, NO_BROKERS);
        Arrays.fill(offline, NO_BROKERS);
        for (MetadataResponsePartition partition : topic.partitions()) {
            int p = partition.partitionIndex();
            leaders[p] = partition.leaderId(); // -1 with LEADER_NOT_AVAILABLE
            leaderEpochs[p] = partition.leaderEpoch();
            all[p] = toArray(partition.replicaNodes());
            inSync[p] = toArray(partition.isrNodes());
            offline[p] = toArray(partition.offlineReplicas());
        }
        Replicas replicas = new Replicas(all, inSync, offline);
        Replicas shared = assignments.computeIfAbsent(replicas, same -> same);
        return new TopicImage(topic.name(), topic.topicId(), leaders, leaderEpochs, shared);
    }

    private static int[] toArray(List<Integer> ids) {
        int[] array = new int[ids.size()];
        for (int i = 0; i < array.length; i++) {
            array[i] = ids.get(i);
        }
        return array;
    }
}
