package dev.millrace.client.metadata;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;

/**
 * What makes the next image.
 *
 * @param clusterId null if the answer did not tell
 * @param nodes the brokers alive; empty for "as before"
 * @param topics those that the answer described
 * @param errors by topic, for those that it could not describe
 * @param complete whether topics that are not in here are to be forgotten
 */
public record ClusterDelta(
        String clusterId,
        List<Node> nodes,
        List<TopicImage> topics,
        Map<String, ApiException> errors,
        boolean complete) {

    /**
     * A leader that a broker named when it refused a batch (KIP-951).
     *
     * @param topicId of the topic that the batch was sent to; another may have its name by now
     */
    public record LeaderHint(String topic, Uuid topicId, int partition, int leader, int leaderEpoch) {}
}
