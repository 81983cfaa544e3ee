package dev.millrace.mirror.progress;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.ResumeMode;
import dev.millrace.mirror.text.MirrorException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prevents two mirrors from running side by side when one keeps its progress on the source and the other, with exactly
 * once, on the target: neither sees what the other does.
 *
 * <p><b>Threads:</b> any; stateless. If a cluster denies the check, the mirror runs nevertheless.
 */
public final class ProgressConflict {
    private static final Logger LOG = LoggerFactory.getLogger(ProgressConflict.class);
    private static final Set<GroupState> WITHOUT_MEMBERS = Set.of(GroupState.EMPTY, GroupState.DEAD);

    private ProgressConflict() {}

    /**
     * Checks, before a mirror whose group is on the target starts, that the group on the source has no members.
     *
     * @param described the source's answer about the group there
     * @throws MirrorException a temporary one, if the group has members, or the source has not answered
     */
    public static void requireNoMembers(String group, KafkaFuture<ConsumerGroupDescription> described) {
        try {
            if (!WITHOUT_MEMBERS.contains(Clusters.await(described).groupState())) {
                throw MirrorException.temporary("Group " + group + " on the source has members: a mirror runs without"
                        + " --resume " + ResumeMode.EXACTLY_ONCE + ". Stop it (if it was killed, wait until its members"
                        + " have timed out); this one goes on where it ends");
            }
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RetriableException) {
                throw MirrorException.failed("The source does not tell who is in group " + group, e.getCause());
            }
            LOG.debug("Group {} on the source is not there, or cannot be described", group, e);
        }
    }

    /**
     * Checks, before a mirror whose group is on the source starts, that the group on the target has no progress. The
     * mirror needs no groups on the target, so it starts even if the target does not answer.
     *
     * @param committed the target's answer about the group there
     * @param mark of mirrors to the target
     * @throws MirrorException if the group has the progress of such a mirror
     */
    public static void requireNoProgress(
            String group, KafkaFuture<Map<TopicPartition, OffsetAndMetadata>> committed, String mark) {
        try {
            boolean hasProgress = Clusters.await(committed).values().stream()
                    .anyMatch(position -> position != null
                            && CommitMetadata.of(position).targetId().equals(MirrorGroup.targetOf(mark)));
            if (hasProgress) {
                throw MirrorException.failed("Group " + group + " on the target has the progress of a mirror with"
                        + " --resume " + ResumeMode.EXACTLY_ONCE + ", which this one would not see; go on with that"
                        + " option, or delete the group on the target, and the mirror starts where its group on the"
                        + " source is");
            }
        } catch (ExecutionException e) {
            LOG.debug("Group {} on the target cannot be described", group, e);
        }
    }
}
