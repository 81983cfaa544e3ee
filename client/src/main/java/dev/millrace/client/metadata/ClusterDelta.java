package dev.millrace.client.metadata;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;

/**
 * The changes from one {@link ClusterImage} to the next, from one metadata response.
 *
 * @param clusterId null if the response does not contain it
 * @param nodes the live brokers; empty if they have not changed
 * @param topics the topics that the response describes
 * @param errors by topic, for the topics that the cluster could not describe
 * @param complete whether the next image must drop topics that are in neither {@code topics} nor {@code errors}
 */
public record ClusterDelta(
        String clusterId,
        List<Node> nodes,
        List<TopicImage> topics,
        Map<String, ApiException> errors,
        boolean complete) {

    /**
     * A new leader that a broker named in a produce response, in which it refused a batch (KIP-951).
     *
     * @param topicId id of the topic that the batch was sent to; the topic may have been created again since
     */
    public record LeaderHint(String topic, Uuid topicId, int partition, int leader, int leaderEpoch) {}
}
