package dev.millrace.mirror;

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
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is asked about the consumer groups of a cluster. Blocks while it answers. */
final class GroupOffsets {
    private static final Logger LOG = LoggerFactory.getLogger(GroupOffsets.class);
    /** The second is of groups that only commit. */
    private static final Set<String> PROTOCOLS = Set.of("consumer", "");

    private static final Set<GroupState> WITHOUT_MEMBERS = Set.of(GroupState.EMPTY, GroupState.DEAD);

    private GroupOffsets() {}

    /**
     * What consumer groups with matching names have committed; without the groups of mirrors, whatever their names are:
     * at the other cluster their offsets would be progress in something else.
     */
    static Map<String, Map<TopicPartition, OffsetAndMetadata>> ofConsumers(Admin cluster, Pattern names, String own) {
        Map<String, Map<TopicPartition, OffsetAndMetadata>> all = committed(cluster, names(cluster, names, own));
        all.values()
                .removeIf(offsets -> offsets.values().stream()
                        .anyMatch(offset -> CommitMetadata.of(offset).targetId().isPresent()));
        return all;
    }

    /** The consumer groups with matching names, without the mirror's own and those of other mirrors by default. */
    private static Set<String> names(Admin cluster, Pattern names, String own) {
        Predicate<String> isWanted = names.asMatchPredicate();
        return Clusters.awaitUnchecked(cluster.listGroups(new ListGroupsOptions().withProtocolTypes(PROTOCOLS))
                        .all())
                .stream()
                .map(GroupListing::groupId)
                .filter(name -> isWanted.test(name) && !name.equals(own) && !name.startsWith(MirrorGroup.PREFIX))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /**
     * What groups have committed; nothing for those that do not exist. Groups of which the cluster does not tell are left
     * out, after a warning: nobody knows what they have.
     */
    static Map<String, Map<TopicPartition, OffsetAndMetadata>> committed(Admin cluster, Collection<String> groups) {
        Map<String, ListConsumerGroupOffsetsSpec> specs = new HashMap<>();
        groups.forEach(group -> specs.put(group, new ListConsumerGroupOffsetsSpec()));
        var answer = cluster.listConsumerGroupOffsets(specs);
        Map<String, Map<TopicPartition, OffsetAndMetadata>> all = new HashMap<>();
        for (String group : groups) {
            try {
                Map<TopicPartition, OffsetAndMetadata> of =
                        new HashMap<>(Clusters.await(answer.partitionsToOffsetAndMetadata(group)));
                of.values().removeIf(offset -> offset == null);
                all.put(group, of);
            } catch (ExecutionException e) {
                if (!tellUnlessMissing(group, e.getCause())) {
                    all.put(group, new HashMap<>());
                }
            }
        }
        return all;
    }

    /** Those of the groups that have members. */
    static Set<String> active(Admin cluster, Collection<String> groups) {
        Set<String> active = new TreeSet<>();
        cluster.describeConsumerGroups(groups).describedGroups().forEach((group, answer) -> {
            try {
                if (!WITHOUT_MEMBERS.contains(Clusters.await(answer).groupState())) {
                    active.add(group);
                }
            } catch (ExecutionException e) {
                if (tellUnlessMissing(group, e.getCause())) {
                    active.add(group); // it may be
                }
            }
        });
        return active;
    }

    /** Whether a group of this protocol has members, as far as the cluster tells. */
    static boolean hasMembers(Admin cluster, String group, String protocol) {
        ListGroupsOptions ofProtocol = new ListGroupsOptions().withProtocolTypes(Set.of(protocol));
        return Clusters.awaitUnchecked(cluster.listGroups(ofProtocol).all()).stream()
                .filter(found -> found.groupId().equals(group))
                .anyMatch(found ->
                        found.groupState().filter(WITHOUT_MEMBERS::contains).isEmpty());
    }

    private static boolean tellUnlessMissing(String group, Throwable cause) {
        boolean isMissing = cause instanceof GroupIdNotFoundException;
        if (!isMissing) {
            LOG.warn("Cannot ask about group {}: {}", group, MirrorException.reason(cause));
        }
        return !isMissing;
    }

    /**
     * As {@link #commit}. What the group has is read once more, right before the commit reaches it; what was later there,
     * and is overwritten, is put back. Only then is it known: an offset that was overwritten cannot be read any more.
     */
    static Optional<Throwable> commitKeepingLater(
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
                    committed(cluster, Set.of(group)).getOrDefault(group, Map.of());
            later.keySet().removeIf(partition -> !offsets.get(partition).equals(now.get(partition)));
            return later.isEmpty() ? Optional.empty() : commit(cluster, group, later);
        } catch (ExecutionException e) {
            return Optional.of(e.getCause());
        }
    }

    /** Those offsets that are after the ones that were written over them. */
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

    /** Commits for a group, in parts if there are many offsets; returns why that was not possible, if so. */
    static Optional<Throwable> commit(Admin cluster, String group, Map<TopicPartition, OffsetAndMetadata> offsets) {
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
