package dev.millrace.mirror;

import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
 * Lets a mirror continue where a mirror of an earlier version stopped. In earlier versions the group had the same name
 * for every target.
 *
 * <p>So that group may hold the progress of a mirror to another target, and a mirror that started from it would skip
 * records that its target does not have. An offset is therefore taken over only if the target has the records before it
 * ({@link CopyCheck}). A partition of which the target has nothing starts as in any new group. If neither is certain,
 * the mirror does not start, and the user has to choose the group.
 *
 * <p><b>Threads:</b> one.
 */
final class InheritedProgress {
    private static final Logger LOG = LoggerFactory.getLogger(InheritedProgress.class);
    private static final String OLD_GROUP = MirrorGroup.OF_EARLIER_VERSIONS;

    private final Admin source;
    private final CopiesOnTarget copies;
    private final String targetId;
    private final MirrorConfig config;

    InheritedProgress(Admin source, Admin target, String targetId, MirrorConfig config) {
        this.source = source;
        this.copies = new CopiesOnTarget(target, config.names());
        this.targetId = targetId;
        this.config = config;
    }

    /**
     * Commits the offsets of the old group to the group, for partitions of which the group has none. Does so for all
     * topics, because nothing can be added once the group has members.
     *
     * @throws MirrorException when it is not clear where the mirror has to start, or a mirror still runs in the old
     *     group
     */
    void takeOver(String group) {
        boolean isInUse = isInUse(OLD_GROUP); // Before its offsets are read, or its last commit could be missed.
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
                    + OLD_GROUP + "; stop it, and this one continues where it ends");
        }
        commit(group, present);
        int absent = verdicts.get(CopyCheck.Verdict.ABSENT).size();
        if (absent > 0) {
            LOG.info(
                    "Group {} has progress in {} of which this target has nothing; there the mirror starts as with new"
                            + " topics",
                    OLD_GROUP,
                    Words.count(absent, "partition"));
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
            CopyCheck check = new CopyCheck(source, copies, sourceReader, targetReader, inherited.keySet());
            inherited.forEach((partition, offset) ->
                    verdicts.get(check.check(partition, offset.offset())).put(partition, offset));
        }
        return verdicts;
    }

    /** Looks only at topics of this mirror: a mirror of the others will check them itself. */
    private void refuseUnclear(String group, Collection<TopicPartition> unclear) {
        TreeSet<String> topics = unclear.stream()
                .map(TopicPartition::topic)
                .filter(config.mirroredTopics().asMatchPredicate())
                .collect(Collectors.toCollection(TreeSet::new));
        if (!topics.isEmpty()) {
            throw MirrorException.failed(
                    "Group " + OLD_GROUP + ", where mirrors of earlier versions kept their progress, has"
                            + " offsets of " + topics
                            + ", and it is not clear whether they belong to a mirror to this target, which has other"
                            + " records in these topics. If they do, continue with --group " + OLD_GROUP
                            + "; if not, start from the beginning with --group " + group);
        }
    }

    private void commit(String group, Map<TopicPartition, OffsetAndMetadata> offsets) {
        if (offsets.isEmpty()) {
            return;
        }
        Optional<Throwable> failure = GroupOffsets.commit(source, group, offsets);
        if (failure.isEmpty()) {
            LOG.info(
                    "Group {} continues where group {} of an earlier version stopped, in {} of {}",
                    group,
                    OLD_GROUP,
                    Words.count(offsets.size(), "partition"),
                    offsets.keySet().stream()
                            .map(TopicPartition::topic)
                            .distinct()
                            .sorted()
                            .toList());
        } else if (!(failure.get() instanceof UnknownMemberIdException)) {
            throw MirrorException.failed("Cannot continue where group " + OLD_GROUP + " stopped", failure.get());
        } else {
            throw MirrorException.failed("Group " + group + " has to continue where group " + OLD_GROUP
                    + " of an earlier version stopped, in topics " + new TreeSet<>(Clusters.topics(offsets.keySet()))
                    + ", but it already has members; stop them and start again");
        }
    }

    private Map<TopicPartition, OffsetAndMetadata> oldOffsets() {
        try {
            Map<TopicPartition, OffsetAndMetadata> offsets = offsets(OLD_GROUP);
            offsets.values().removeIf(this::isOfOtherTarget);
            return offsets;
        } catch (GroupAuthorizationException e) {
            LOG.warn(
                    "May not read group {}, and so ignores progress that an earlier version may have there", OLD_GROUP);
            return Map.of();
        }
    }

    private boolean isOfOtherTarget(OffsetAndMetadata offset) {
        return CommitMetadata.of(offset)
                .targetId()
                .filter(id -> !id.equals(targetId))
                .isPresent();
    }

    private Map<TopicPartition, OffsetAndMetadata> offsets(String group) {
        return MirrorPositions.committed(source, group);
    }

    private boolean isInUse(String group) {
        try {
            return !Clusters.await(source.describeConsumerGroups(List.of(group)).all())
                    .get(group)
                    .members()
                    .isEmpty();
        } catch (ExecutionException e) {
            return false; // There is no such group, or the mirror may not read its offsets either.
        }
    }
}
