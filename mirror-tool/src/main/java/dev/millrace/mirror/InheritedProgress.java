package dev.millrace.mirror;

import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets a mirror go on where one of an earlier version has stopped, whose group was the same for every target.
 *
 * <p>That group may hold the progress of a mirror to another target: to start from it would leave out what this target
 * does not have. So an offset is taken over only when the target is seen to have what the source has before it
 * ({@link CopyCheck}). A partition of which the target has nothing starts as in any new group. Where neither is clear,
 * the mirror does not start, and the user has to choose the group.
 *
 * <p><b>Threads:</b> one.
 */
final class InheritedProgress {
    private static final Logger LOG = LoggerFactory.getLogger(InheritedProgress.class);
    private static final String OLD_GROUP = MirrorGroup.OF_EARLIER_VERSIONS;

    private final Admin source;
    private final Admin target;
    private final MirrorConfig config;

    InheritedProgress(Admin source, Admin target, MirrorConfig config) {
        this.source = source;
        this.target = target;
        this.config = config;
    }

    /**
     * Commits to the group, for partitions of which it has no offset, what the old group has of them. All topics are
     * looked at, for as soon as the group has members nothing can be added.
     *
     * @throws MirrorException when it is unclear where the mirror has to start, or a mirror still runs in the old group
     */
    void takeOver(String group) {
        boolean isInUse = isInUse(OLD_GROUP); // Asked first: what it commits as its last is then not missed.
        Map<TopicPartition, OffsetAndMetadata> inherited = oldOffsets();
        if (!inherited.isEmpty()) {
            inherited.keySet().removeAll(offsets(group).keySet());
            inherited.keySet().retainAll(Clusters.existing(source, inherited.keySet()));
        }
        if (inherited.isEmpty()) {
            return;
        }
        Map<CopyCheck.Verdict, Map<TopicPartition, OffsetAndMetadata>> verdicts = check(inherited);
        refuseUnclear(group, verdicts.get(CopyCheck.Verdict.UNCLEAR).keySet());
        Map<TopicPartition, OffsetAndMetadata> present = verdicts.get(CopyCheck.Verdict.PRESENT);
        if (isInUse && !present.isEmpty()) {
            throw MirrorException.failed("A mirror of an earlier version to this target still runs in group "
                    + OLD_GROUP + "; stop it, and this one goes on where it ends");
        }
        commit(group, present);
        int absent = verdicts.get(CopyCheck.Verdict.ABSENT).size();
        if (absent > 0) {
            LOG.info(
                    "Group {} has progress in {} partitions of which this target has nothing; they are left to"
                            + " auto.offset.reset",
                    OLD_GROUP,
                    absent);
        }
    }

    private Map<CopyCheck.Verdict, Map<TopicPartition, OffsetAndMetadata>> check(
            Map<TopicPartition, OffsetAndMetadata> inherited) {
        Map<CopyCheck.Verdict, Map<TopicPartition, OffsetAndMetadata>> verdicts =
                new EnumMap<>(CopyCheck.Verdict.class);
        for (CopyCheck.Verdict verdict : CopyCheck.Verdict.values()) {
            verdicts.put(verdict, new HashMap<>());
        }
        try (KafkaConsumer<byte[], byte[]> sourceReader = CopyCheck.createReader(config.consumer());
                KafkaConsumer<byte[], byte[]> targetReader = CopyCheck.createReader(config.producer())) {
            CopyCheck copies = new CopyCheck(source, target, sourceReader, targetReader, inherited.keySet());
            inherited.forEach((partition, offset) ->
                    verdicts.get(copies.check(partition, offset.offset())).put(partition, offset));
        }
        return verdicts;
    }

    /** Only of topics to be mirrored: the others are for a mirror of theirs to decide. */
    private void refuseUnclear(String group, Collection<TopicPartition> unclear) {
        TreeSet<String> topics = unclear.stream()
                .map(TopicPartition::topic)
                .filter(Clusters.withoutInternal(config.topics()).asMatchPredicate())
                .collect(Collectors.toCollection(TreeSet::new));
        if (!topics.isEmpty()) {
            throw MirrorException.failed(
                    "Group " + OLD_GROUP + ", where mirrors of earlier versions kept their progress, has"
                            + " offsets of " + topics
                            + ", and it is not clear whether of a mirror to this target, which has other"
                            + " records in them. If it was to this one, go on there by --group " + OLD_GROUP
                            + "; if not, start anew by --group " + group);
        }
    }

    private void commit(String group, Map<TopicPartition, OffsetAndMetadata> offsets) {
        if (offsets.isEmpty()) {
            return;
        }
        try {
            Clusters.await(source.alterConsumerGroupOffsets(group, offsets).all());
            LOG.info(
                    "Group {} goes on where group {} of an earlier version has stopped, in {} partitions of {}",
                    group,
                    OLD_GROUP,
                    offsets.size(),
                    offsets.keySet().stream()
                            .map(TopicPartition::topic)
                            .distinct()
                            .sorted()
                            .toList());
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof UnknownMemberIdException)) {
                throw MirrorException.failed("Cannot go on where group " + OLD_GROUP + " has stopped", e.getCause());
            }
            throw MirrorException.failed("Group " + group + " would have to go on where group " + OLD_GROUP
                    + " of an earlier version has stopped, in " + new TreeMap<>(offsets)
                    + ", but has members already; stop them and start again");
        }
    }

    private Map<TopicPartition, OffsetAndMetadata> oldOffsets() {
        try {
            return offsets(OLD_GROUP);
        } catch (GroupAuthorizationException e) {
            LOG.warn(
                    "May not look whether a mirror of an earlier version has kept its progress in group {}", OLD_GROUP);
            return Map.of();
        }
    }

    private Map<TopicPartition, OffsetAndMetadata> offsets(String group) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>(
                Clusters.awaitUnchecked(source.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata()));
        offsets.values().removeIf(offset -> offset == null);
        return offsets;
    }

    private boolean isInUse(String group) {
        try {
            return !Clusters.await(source.describeConsumerGroups(List.of(group)).all())
                    .get(group)
                    .members()
                    .isEmpty();
        } catch (ExecutionException e) {
            return false; // There is no such group, or its offsets may not be read either.
        }
    }
}
