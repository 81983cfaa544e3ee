package dev.millrace.mirror;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a mirror whose options have changed from going on under other names: it would copy into a topic that has nothing
 * of what was copied before, and the earlier records would be missing there. What a group has committed says which names
 * the topic had on both clusters.
 *
 * <p><b>Threads:</b> any; stateless.
 *
 * @param isOnTarget whether the group is one of the target
 */
record FormerNames(MirrorConfig config, String group, boolean isOnTarget) {
    private static final Logger LOG = LoggerFactory.getLogger(FormerNames.class);

    /** Checks all that the group has committed; what its cluster does not tell now is checked when it is used. */
    void check(Admin cluster) {
        try {
            var unused = requireSame(
                    Clusters.await(cluster.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata()));
        } catch (ExecutionException e) {
            LOG.debug("The offsets of group {} are not known yet", group, e);
        }
    }

    /**
     * Returns what the group has committed, if it has committed that under the names that the topics have now.
     *
     * @param committed by the partitions of the group's cluster; may have nulls
     * @throws MirrorException naming the topic that had another name
     */
    Map<TopicPartition, OffsetAndMetadata> requireSame(Map<TopicPartition, OffsetAndMetadata> committed) {
        committed.forEach((partition, position) -> {
            if (position != null) {
                CommitMetadata.of(position)
                        .otherNameOf(partition.topic())
                        .ifPresent(other -> requireSame(partition.topic(), other));
            }
        });
        return committed;
    }

    private void requireSame(String own, String other) {
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

    /** Whether another topic has the name now, and would go on where this one has stopped. */
    private boolean isNeeded(String name) {
        Optional<String> topic = config.names().onSource(name);
        return isOnTarget && topic.filter(this::isMirrored).isPresent();
    }
}
