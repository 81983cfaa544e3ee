package dev.millrace.mirror.progress;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.text.MirrorException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeConsumerGroupsOptions;
import org.apache.kafka.clients.admin.DescribeStreamsGroupsOptions;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks a cluster about groups that commit offsets: those of consumers and of Kafka Streams. Blocks while it answers.
 */
public final class GroupOffsets {
    private static final Logger LOG = LoggerFactory.getLogger(GroupOffsets.class);
    private static final String STREAMS = "streams";
    /** The empty protocol is that of groups that only commit. */
    private static final Set<String> PROTOCOLS = Set.of("consumer", "", STREAMS);

    private static final Set<GroupState> WITHOUT_MEMBERS = Set.of(GroupState.EMPTY, GroupState.DEAD);
    /** A group whose coordinator is unavailable must not delay the others for long. */
    private static final int MEMBERS_TIMEOUT_MS = 5_000;

    private GroupOffsets() {}

    /**
     * Returns what groups with matching names have committed. Leaves out the groups of mirrors, whatever their names:
     * on the other cluster their offsets would mean progress of another mirror. A cluster does not list groups whose
     * coordinator is unavailable.
     *
     * @param own name of the mirror's group, which is left out too
     */
    public static Map<String, Map<TopicPartition, OffsetAndMetadata>> ofConsumers(
            CommittedOffsets cluster, Pattern names, String own) {
        Map<String, Map<TopicPartition, OffsetAndMetadata>> all =
                cluster.of(matching(listed(cluster.cluster(), PROTOCOLS), names, own));
        all.values()
                .removeIf(offsets -> offsets.values().stream()
                        .anyMatch(offset -> CommitMetadata.of(offset).targetId().isPresent()));
        return all;
    }

    /**
     * Returns share groups with matching names. They read some records before earlier ones, so no offset can be
     * translated.
     */
    public static Set<String> shareGroups(Admin cluster, Pattern names) {
        return matching(listed(cluster, Set.of("share")), names, "");
    }

    /** Returns all groups that commit offsets, by name. */
    public static Map<String, GroupListing> listed(Admin cluster) {
        return listed(cluster, PROTOCOLS);
    }

    private static Map<String, GroupListing> listed(Admin cluster, Set<String> protocols) {
        return Clusters.awaitUnchecked(cluster.listGroups(new ListGroupsOptions().withProtocolTypes(protocols))
                        .all())
                .stream()
                .collect(Collectors.toMap(GroupListing::groupId, listing -> listing, (one, other) -> other));
    }

    /** Leaves out the mirror's own group and the default groups of other mirrors. */
    private static Set<String> matching(Map<String, GroupListing> listed, Pattern names, String own) {
        Predicate<String> isWanted = names.asMatchPredicate();
        return listed.keySet().stream()
                .filter(name -> isWanted.test(name) && !name.equals(own) && !name.startsWith(MirrorGroup.PREFIX))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns the groups that have members. */
    public static Set<String> active(Admin cluster, Collection<String> groups) {
        Map<String, GroupListing> listed = listed(cluster);
        return groups.stream()
                .filter(group -> hasMembers(listed.get(group)) || hasMembers(cluster, group, listed.get(group)))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Whether the list says that the group has members; brokers before Kafka 2.6 do not say. */
    public static boolean hasMembers(GroupListing listedOrNull) {
        return listedOrNull != null
                && listedOrNull
                        .groupState()
                        .filter(state -> !WITHOUT_MEMBERS.contains(state))
                        .isPresent();
    }

    /** Whether the group has members now, or its cluster does not tell; whatever kind of group it is. */
    public static boolean hasMembers(Admin cluster, String group) {
        return hasMembers(cluster, group, listed(cluster).get(group));
    }

    /** Whether the group has members now, or its cluster does not tell. */
    public static boolean hasMembers(Admin cluster, String group, GroupListing listedOrNull) {
        try {
            return !WITHOUT_MEMBERS.contains(
                    listedOrNull != null && listedOrNull.protocol().equals(STREAMS)
                            ? Clusters.await(cluster.describeStreamsGroups(
                                                    Set.of(group),
                                                    new DescribeStreamsGroupsOptions().timeoutMs(MEMBERS_TIMEOUT_MS))
                                            .describedGroups()
                                            .get(group))
                                    .groupState()
                            : Clusters.await(cluster.describeConsumerGroups(
                                                    Set.of(group),
                                                    new DescribeConsumerGroupsOptions().timeoutMs(MEMBERS_TIMEOUT_MS))
                                            .describedGroups()
                                            .get(group))
                                    .groupState());
        } catch (ExecutionException e) {
            boolean isMissing = e.getCause() instanceof GroupIdNotFoundException;
            if (!isMissing) {
                LOG.warn("Cannot ask about group {}: {}", group, MirrorException.reason(e.getCause()));
            }
            return !isMissing;
        }
    }

    /** Whether a group of this protocol has members, as far as the cluster tells. */
    public static boolean hasMembers(Admin cluster, String group, String protocol) {
        ListGroupsOptions ofProtocol = new ListGroupsOptions().withProtocolTypes(Set.of(protocol));
        return Clusters.awaitUnchecked(cluster.listGroups(ofProtocol).all()).stream()
                .filter(found -> found.groupId().equals(group))
                .anyMatch(found ->
                        found.groupState().filter(WITHOUT_MEMBERS::contains).isEmpty());
    }

    /**
     * Commits as {@link #commit} does, but restores later offsets that it overwrites. It reads the group's offsets once
     * more right before the commit arrives, because an overwritten offset can no longer be read.
     */
    public static Optional<Throwable> commitKeepingLater(
            Admin cluster, String group, Map<TopicPartition, OffsetAndMetadata> offsets) {
        KafkaFuture<Map<TopicPartition, OffsetAndMetadata>> before =
                cluster.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata();
        Optional<Throwable> failure = commit(cluster, group, offsets);
        if (failure.isPresent()) {
            return failure;
        }
        try {
            Map<TopicPartition, OffsetAndMetadata> later = later(Clusters.await(before), offsets);
            if (later.isEmpty()) {
                return Optional.empty();
            }
            Map<TopicPartition, OffsetAndMetadata> now =
                    new CommittedOffsets(cluster).of(Set.of(group)).getOrDefault(group, Map.of());
            later.keySet().removeIf(partition -> !offsets.get(partition).equals(now.get(partition)));
            return later.isEmpty() ? Optional.empty() : commit(cluster, group, later);
        } catch (ExecutionException e) {
            return Optional.of(e.getCause());
        }
    }

    /** Returns the offsets that are later than the ones that overwrote them. */
    static Map<TopicPartition, OffsetAndMetadata> later(
            Map<TopicPartition, OffsetAndMetadata> before, Map<TopicPartition, OffsetAndMetadata> written) {
        Map<TopicPartition, OffsetAndMetadata> later = new HashMap<>(before);
        later.entrySet()
                .removeIf(known -> known.getValue() == null
                        || !written.containsKey(known.getKey())
                        || known.getValue().offset()
                                <= written.get(known.getKey()).offset());
        return later;
    }

    /** Commits for a group, in parts if there are many offsets. Returns the reason if that was not possible. */
    public static Optional<Throwable> commit(
            Admin cluster, String group, Map<TopicPartition, OffsetAndMetadata> offsets) {
        try {
            for (Map<TopicPartition, OffsetAndMetadata> part : CommitParts.of(offsets)) {
                Clusters.await(cluster.alterConsumerGroupOffsets(group, part).all());
            }
            return Optional.empty();
        } catch (ExecutionException e) {
            return Optional.of(e.getCause());
        }
    }
}
