package dev.millrace.client.kafka;

import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.TopicImage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponsePartition;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponseTopic;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.MetadataResponse;

/** Turns a metadata response into a delta. */
final class MetadataAnswer {
    private MetadataAnswer() {}

    /** {@code complete} tells whether the request named all topics in use. */
    static ClusterDelta delta(MetadataResponse response, boolean complete) {
        List<TopicImage> topics = new ArrayList<>();
        Map<String, ApiException> errors = new HashMap<>();
        for (MetadataResponseTopic topic : response.data().topics()) {
            Errors error = Errors.forCode(topic.errorCode());
            if (error == Errors.NONE) {
                topics.add(image(topic));
            } else {
                errors.put(topic.name(), error.exception());
            }
        }
        return new ClusterDelta(response.clusterId(), new ArrayList<>(response.brokers()), topics, errors, complete);
    }

    private static TopicImage image(MetadataResponseTopic topic) {
        int partitions = topic.partitions().size();
        int[] leaders = new int[partitions];
        int[] leaderEpochs = new int[partitions];
        int[][] all = new int[partitions][];
        int[][] inSync = new int[partitions][];
        int[][] offline = new int[partitions][];
        Arrays.fill(leaders, TopicImage.NO_LEADER);
        for (MetadataResponsePartition partition : topic.partitions()) {
            int p = partition.partitionIndex();
            leaders[p] = partition.leaderId(); // -1 with LEADER_NOT_AVAILABLE
            leaderEpochs[p] = partition.leaderEpoch();
            all[p] = toArray(partition.replicaNodes());
            inSync[p] = toArray(partition.isrNodes());
            offline[p] = toArray(partition.offlineReplicas());
        }
        return new TopicImage(
                topic.name(), topic.topicId(), leaders, leaderEpochs, new TopicImage.Replicas(all, inSync, offline));
    }

    private static int[] toArray(List<Integer> ids) {
        return ids.stream().mapToInt(Integer::intValue).toArray();
    }
}
