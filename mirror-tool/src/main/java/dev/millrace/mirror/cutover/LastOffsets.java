package dev.millrace.mirror.cutover;

import dev.millrace.mirror.groups.FailoverPlan;
import dev.millrace.mirror.progress.BothClusters;
import dev.millrace.mirror.progress.CommittedOffsets;
import dev.millrace.mirror.progress.GroupOffsets;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * The offsets at which groups of the source go on at the target. All groups are checked before the first is written, and
 * the offsets of one are written together.
 *
 * @param plan where they go on
 * @param members the groups that had members at the source before the plan was made
 * @param unknown the groups of which the source does not tell now what they have committed
 */
record LastOffsets(BothClusters clusters, FailoverPlan plan, Set<String> members, Set<String> unknown) {
    /**
     * Asks both clusters. Blocks until they have answered. Asks about members first: what they commit before they leave
     * is then in the plan.
     *
     * @param known groups that a former answer was about
     */
    static LastOffsets ask(BothClusters clusters, Set<String> known) {
        Admin source = clusters.source();
        Set<String> members = GroupOffsets.active(source, known);
        FailoverPlan plan = FailoverPlan.of(clusters.config(), source, clusters.target());
        Set<String> unknown = new TreeSet<>(known);
        unknown.removeAll(groups(plan));
        if (!unknown.isEmpty()) { // A group that is deleted, or has no offsets any more, is known.
            unknown.removeAll(new CommittedOffsets(source).of(unknown).keySet());
        }
        return new LastOffsets(clusters, plan, members, unknown);
    }

    private static Set<String> groups(FailoverPlan plan) {
        Set<String> groups = new TreeSet<>();
        plan.positions().forEach(next -> groups.add(next.group()));
        return groups;
    }

    Set<String> groups() {
        return groups(plan);
    }

    /** Returns why the groups cannot be moved now, for an operator; empty if nothing but {@link #inexact} is in the way. */
    Optional<String> obstacle() {
        if (!members.isEmpty()) {
            return Optional.of(Words.list(members, "group") + (members.size() == 1 ? " still has" : " still have")
                    + " members at the source");
        }
        return unknown.isEmpty()
                ? Optional.empty()
                : Optional.of("the source does not tell what " + Words.list(unknown, "group") + " committed");
    }

    /**
     * Returns which group does not go on exactly, for an operator; empty if all do.
     *
     * @param again how many records a group may see again in a partition
     */
    Optional<String> inexact(long again) {
        return toMove().filter(next -> next.target() < 0 || next.twiceAtMost() > again)
                .findFirst()
                .map(next -> "group " + next.group() + " does not go on exactly in " + next.partition() + ": "
                        + (next.target() < 0
                                ? "the target has no offset for it"
                                : "it would see " + Words.count(next.twiceAtMost(), "record") + " again at most"));
    }

    /** Returns the positions of groups that have no members at the target. */
    Stream<FailoverPlan.Position> toMove() {
        return plan.positions().stream().filter(next -> !plan.active().contains(next.group()));
    }

    List<String> describe() {
        List<String> lines = new ArrayList<>();
        toMove().forEach(next -> lines.add("group " + next.group() + ", " + next.partition() + ": from "
                + Words.number(next.source()) + " to "
                + (next.target() < 0
                        ? "an offset that is not known"
                        : Words.number(next.target())
                                + (next.isFurtherThere() ? ", where it is already, further than at the source" : ""))
                + ", " + Words.number(next.twiceAtMost()) + " again at most"));
        plan.active()
                .forEach(group -> lines.add(
                        "group " + group + " has members on the target already, and goes on there where it is"));
        return lines;
    }

    /**
     * Writes them, unless a group has committed others since they were asked for; returns whether it has written.
     *
     * @param onMoved told of each group whose offsets are written
     * @throws MirrorException if the target does not take the offsets of a group
     */
    boolean write(Consumer<String> onMoved) {
        Map<String, Map<TopicPartition, OffsetAndMetadata>> here =
                CommittedOffsets.stable(clusters.source()).of(groups());
        Map<String, Map<TopicPartition, OffsetAndMetadata>> offsets = new HashMap<>();
        for (FailoverPlan.Position next : toMove().toList()) {
            OffsetAndMetadata committed =
                    here.getOrDefault(next.group(), Map.of()).get(next.partition());
            if (committed == null || committed.offset() != next.source()) {
                return false;
            }
            if (!next.isFurtherThere()) {
                offsets.computeIfAbsent(next.group(), group -> new HashMap<>())
                        .put(
                                clusters.config().names().onTarget(next.partition()),
                                new OffsetAndMetadata(next.target(), committed.metadata()));
            }
        }
        offsets.forEach((group, of) -> {
            GroupOffsets.commitKeepingLater(clusters.target(), group, of).ifPresent(failure -> {
                throw MirrorException.failed("The target does not take the offsets of group " + group, failure);
            });
            onMoved.accept(group);
        });
        return true;
    }

    /** Returns why the groups are no longer where they were at a former answer; empty if they are. */
    Optional<String> changeSince(LastOffsets before) {
        if (!members.isEmpty()) {
            return obstacle();
        }
        Map<String, Map<TopicPartition, Long>> former = new HashMap<>();
        before.plan
                .positions()
                .forEach(next -> former.computeIfAbsent(next.group(), group -> new HashMap<>())
                        .put(next.partition(), next.source()));
        return plan.positions().stream()
                .filter(next -> !Long.valueOf(next.source())
                        .equals(former.getOrDefault(next.group(), Map.of()).get(next.partition())))
                .findFirst()
                .map(next -> "group " + next.group() + " has committed again at the source, of " + next.partition());
    }
}
