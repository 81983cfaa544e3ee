package dev.millrace.mirror;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.GroupState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps mirrors apart that have their progress on the source from those that have it on the target, with exactly once:
 * neither sees what the other does.
 *
 * <p><b>Threads:</b> any; stateless. If a cluster does not allow to look, the mirror runs nevertheless.
 */
final class OtherMode {
    private static final Logger LOG = LoggerFactory.getLogger(OtherMode.class);
    private static final Set<GroupState> WITHOUT_MEMBERS = Set.of(GroupState.EMPTY, GroupState.DEAD);

    private OtherMode() {}

    /**
     * Before a mirror starts whose group is on the target.
     *
     * @throws MirrorException, a temporary one, if the group on the source has members
     */
    static void requireNoMembers(Admin source, String group) {
        try {
            GroupState state = Clusters.await(source.describeConsumerGroups(List.of(group))
                            .describedGroups()
                            .get(group))
                    .groupState();
            if (!WITHOUT_MEMBERS.contains(state)) {
                throw MirrorException.temporary("Group " + group + " on the source has members: a mirror runs without"
                        + " --resume " + ResumeMode.EXACTLY_ONCE + ". Stop it (if it was killed, wait until its members"
                        + " have timed out); this one goes on where it ends");
            }
        } catch (ExecutionException e) {
            LOG.debug("Group {} on the source is not there, or cannot be described", group, e);
        }
    }

    /**
     * Before a mirror starts whose group is on the source.
     *
     * @param mark of mirrors to the target
     * @throws MirrorException if the group on the target has progress of one
     */
    static void requireNoProgress(Admin target, String group, String mark) {
        try {
            boolean hasProgress =
                    Clusters.await(target.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata())
                            .values()
                            .stream()
                            .anyMatch(position -> position != null
                                    && CommitMetadata.of(position).mark().equals(mark));
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
