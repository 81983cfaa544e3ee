package dev.millrace.mirror.progress;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.text.MirrorException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a mirror whose options have changed from resuming where its group stopped, if the group copied to another
 * target or to a topic of another name: the new copy would lack the earlier records. The committed metadata names the
 * target and the topic's names on both clusters.
 *
 * <p><b>Threads:</b> any; stateless.
 *
 * @param targetId the target's cluster id
 * @param isOnTarget whether the group is on the target
 */
public record FormerProgress(MirrorConfig config, String targetId, String group, boolean isOnTarget) {
    private static final Logger LOG = LoggerFactory.getLogger(FormerProgress.class);

    /** Checks everything the group has committed. What its cluster does not tell now is checked when it is used. */
    public void check(Admin cluster) {
        try {
            var unused = requireSame(
                    Clusters.await(cluster.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata()));
        } catch (ExecutionException e) {
            LOG.debug("The offsets of group {} are not known yet", group, e);
        }
    }

    /**
     * Returns what the group has committed, if the target and the names of the topics were the same.
     *
     * @param committed by the partitions of the group's cluster; may have nulls
     * @throws MirrorException naming the topic, and the target or the name that it was copied to
     */
    Map<TopicPartition, OffsetAndMetadata> requireSame(Map<TopicPartition, OffsetAndMetadata> committed) {
        committed.forEach((partition, position) -> {
            if (position != null) {
                CommitMetadata metadata = CommitMetadata.of(position);
                requireNotEnded(partition.topic(), metadata);
                metadata.targetId().ifPresent(id -> requireSameTarget(partition.topic(), id));
                metadata.otherNameOf(partition.topic()).ifPresent(other -> requireSameName(partition.topic(), other));
            }
        });
        return committed;
    }

    private void requireNotEnded(String topic, CommitMetadata metadata) {
        boolean isWayBack = config.policies().isWayBack();
        if (metadata.isEnded() && (isMirrored(topic) || isNeeded(topic))) {
            throw MirrorException.failed("A cutover has turned the direction of this mirror, as group " + group
                    + " says. Records of topic " + topic + " may now be copies that came the other way. Run '"
                    + (isWayBack ? "mirror run" : "mirror run --back")
                    + "' instead, or turn it again with 'mirror cutover"
                    + (isWayBack ? "" : " --back")
                    + " --keep-way-back'. If the cutover was killed before it was done, start it again");
        }
    }

    private void requireSameTarget(String topic, String id) {
        if (!id.equals(targetId) && isMirrored(topic)) {
            throw MirrorException.failed("Group " + group + " has the progress of a mirror of topic " + topic
                    + " to another target, cluster " + id + ", and cluster " + targetId
                    + " would lack what was copied there. Choose another --group. If this target has all of it, because"
                    + " it has taken over from the other, say so with \"kafka-consumer-groups.sh --reset-offsets"
                    + " --to-current --execute --all-topics --group " + group
                    + "\" on the source, while no mirror runs");
        }
    }

    private void requireSameName(String own, String other) {
        String topic = isOnTarget ? other : own;
        String name = isOnTarget ? own : other;
        String nameNow = config.names().onTarget(topic);
        if (!nameNow.equals(name) && (isMirrored(topic) || isNeeded(name))) {
            throw MirrorException.failed("Group " + group + " on the " + (isOnTarget ? "target" : "source")
                    + " has copied topic " + topic + " to " + name + " on the target, and now "
                    + (isMirrored(topic)
                            ? "its name there would be " + nameNow + ", which would lack what was copied before"
                            : "topic " + config.names().onSource(name).orElseThrow() + " would have that name")
                    + ". Go on with --topic-name " + topic + "=" + name + " or the --topic-prefix that it had, or begin"
                    + " anew with another --group");
        }
    }

    private boolean isMirrored(String topic) {
        return config.mirroredTopics().matcher(topic).matches();
    }

    /** Whether another topic has the name now and would resume where this one stopped. */
    private boolean isNeeded(String name) {
        Optional<String> topic = config.names().onSource(name);
        return isOnTarget && topic.filter(this::isMirrored).isPresent();
    }
}
