package dev.millrace.mirror.run;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.control.Timers;
import dev.millrace.mirror.progress.CommitMetadata;
import dev.millrace.mirror.progress.MirrorGroup;
import dev.millrace.mirror.text.MirrorException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.DescribeConsumerGroupsOptions;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks for a mirror that copies the same topics back to the source: each of the two would mirror what the other has
 * written, without end.
 *
 * <p>Such a mirror is a consumer group of the target, or with exactly once of the source, that has members and is
 * assigned topics of this mirror. It has the default name of a mirror to the source, or its offsets carry the mark of
 * one ({@link MirrorGroup}). The mark appears with its first commit, and two mirrors that start at the same moment do
 * not see each other yet, so the check is repeated.
 *
 * <p><b>Threads:</b> the thread that runs the mirror calls all methods; repeated checks run in a daemon thread.
 */
final class OppositeMirror implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(OppositeMirror.class);
    /** By then a mirror that was started at the same moment has joined its group. */
    private static final Duration FIRST_DELAY = Duration.ofSeconds(5);

    private static final Duration INTERVAL = Duration.ofSeconds(30);
    /** Bounds the delay per request at the start: {@code listGroups} waits for dead brokers. */
    private static final int ANSWER_TIMEOUT_MS = 3_000;

    private static final Set<GroupState> WITHOUT_MEMBERS = Set.of(GroupState.EMPTY, GroupState.DEAD);

    private final Admin source;
    private final Admin target;
    private final String sourceId;
    private final String targetId;
    private final Predicate<String> isRead;
    private final Predicate<String> isWritten;
    private final ScheduledExecutorService timer = Timers.daemon("mirror-opposite");

    OppositeMirror(Admin source, Admin target, String sourceId, String targetId, MirrorConfig config) {
        this.source = source;
        this.target = target;
        this.sourceId = sourceId;
        this.targetId = targetId;
        this.isRead = config.mirroredTopics().asMatchPredicate();
        this.isWritten = name -> config.names().onSource(name).filter(isRead).isPresent();
    }

    /**
     * Checks once. If a cluster does not answer or denies access, the mirror runs nevertheless.
     *
     * @throws MirrorException when there is an opposite mirror
     */
    void check() {
        tryTo(() -> check(target, "target", MirrorGroup.defaultName(sourceId), isWritten));
        tryTo(() -> check(source, "source", MirrorGroup.defaultNameOnTarget(targetId), isRead));
        tryTo(this::checkWhatIsReadHere);
    }

    private interface Look {
        void happen() throws ExecutionException;
    }

    private static void tryTo(Look look) {
        try {
            look.happen();
        } catch (InterruptException e) {
            throw e; // the mirror is told to stop
        } catch (ExecutionException e) {
            LOG.info("Cannot look for a mirror in the opposite direction: {}", MirrorException.reason(e.getCause()));
        } catch (KafkaException e) {
            LOG.info("Cannot look for a mirror in the opposite direction: {}", MirrorException.reason(e));
        }
    }

    /**
     * Looks for a mirror that writes topics which this mirror reads. It need not read yet what this mirror writes: once
     * those topics exist, it is too late.
     */
    private void checkWhatIsReadHere() throws ExecutionException {
        Map<String, Set<String>> readers = groupsWith(any -> true, target);
        committed(target, readers.keySet()).forEach((group, offsets) -> {
            offsets.keySet().removeIf(left -> !readers.get(group).contains(left.topic()));
            Set<String> copies = new TreeSet<>();
            offsets.forEach((partition, offset) -> {
                CommitMetadata metadata = CommitMetadata.of(offset);
                if (metadata.mark().equals(MirrorGroup.mark(sourceId))) {
                    metadata.otherNameOf(partition.topic()).filter(isRead).ifPresent(copies::add);
                }
            });
            if (!copies.isEmpty()) {
                throw MirrorException.failed("Group " + group + " on the target belongs to a mirror back to the"
                        + " source, which writes " + copies + " there: this mirror would copy back what that one"
                        + " has copied, under yet other names, without end. Leave its copies out of this mirror"
                        + " with --exclude-topics");
            }
        });
    }

    /** @param isOurs whether this mirror reads or writes a topic of this name in the cluster */
    private void check(Admin cluster, String role, String defaultGroup, Predicate<String> isOurs)
            throws ExecutionException {
        for (Map.Entry<String, Set<String>> group : groupsWith(isOurs, cluster).entrySet()) {
            boolean isFromElsewhere = MirrorGroup.isDefaultNameOnTarget(group.getKey());
            if (group.getKey().equals(defaultGroup)
                    || group.getKey().equals(defaultGroup + MirrorGroup.BACK_SUFFIX)
                    || (!isFromElsewhere && hasMarkOfMirrorToSource(cluster, group.getKey()))) {
                throw MirrorException.failed("Group " + group.getKey() + " on the " + role
                        + " belongs to a mirror back to"
                        + " the source, of " + group.getValue() + ": each would mirror what the other has written,"
                        + " without end. Stop that mirror (if it was killed, wait until its members have timed"
                        + " out), or choose --topics for the two so that no topic is mirrored in both directions");
            }
        }
    }

    /**
     * Repeats the check at intervals, until closed.
     *
     * @param onFound called in a thread of this object with what {@link #check} throws
     */
    void watch(Consumer<MirrorException> onFound) {
        timer.scheduleWithFixedDelay(
                () -> {
                    try {
                        check();
                    } catch (MirrorException found) {
                        onFound.accept(found);
                    }
                },
                FIRST_DELAY.toMillis(),
                INTERVAL.toMillis(),
                TimeUnit.MILLISECONDS);
    }

    /** Returns the groups whose members are assigned such topics, with these topics. */
    private Map<String, Set<String>> groupsWith(Predicate<String> isOurs, Admin cluster) throws ExecutionException {
        ListGroupsOptions list = new ListGroupsOptions().timeoutMs(ANSWER_TIMEOUT_MS);
        List<String> active = Clusters.await(cluster.listGroups(list).valid()).stream()
                // brokers before 2.6 do not report the state
                .filter(group ->
                        group.groupState().filter(WITHOUT_MEMBERS::contains).isEmpty())
                .map(GroupListing::groupId)
                .toList();
        Map<String, Set<String>> readers = new TreeMap<>();
        DescribeConsumerGroupsOptions describe = new DescribeConsumerGroupsOptions().timeoutMs(ANSWER_TIMEOUT_MS);
        cluster.describeConsumerGroups(active, describe).describedGroups().forEach((name, description) -> {
            Set<String> topics = awaitOrEmpty(description)
                    .map(group -> topics(group, isOurs))
                    .orElse(Set.of());
            if (!topics.isEmpty()) {
                readers.put(name, topics);
            }
        });
        return readers;
    }

    private static Set<String> topics(ConsumerGroupDescription group, Predicate<String> isWanted) {
        Set<String> topics = new TreeSet<>();
        group.members().stream()
                .flatMap(member -> member.assignment().topicPartitions().stream())
                .map(TopicPartition::topic)
                .filter(isWanted)
                .forEach(topics::add);
        return topics;
    }

    private boolean hasMarkOfMirrorToSource(Admin cluster, String group) {
        String mark = MirrorGroup.mark(sourceId);
        return committed(cluster, Set.of(group)).values().stream()
                .flatMap(offsets -> offsets.values().stream())
                .anyMatch(offset -> CommitMetadata.of(offset).mark().equals(mark));
    }

    private static Map<String, Map<TopicPartition, OffsetAndMetadata>> committed(Admin cluster, Set<String> groups) {
        Map<String, ListConsumerGroupOffsetsSpec> all =
                groups.stream().collect(Collectors.toMap(group -> group, any -> new ListConsumerGroupOffsetsSpec()));
        var answer = cluster.listConsumerGroupOffsets(
                all, new ListConsumerGroupOffsetsOptions().timeoutMs(ANSWER_TIMEOUT_MS));
        Map<String, Map<TopicPartition, OffsetAndMetadata>> committed = new TreeMap<>();
        for (String group : groups) {
            Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
            awaitOrEmpty(answer.partitionsToOffsetAndMetadata(group)).ifPresent(offsets::putAll);
            offsets.values().removeIf(offset -> offset == null);
            committed.put(group, offsets);
        }
        return committed;
    }

    /** Returns empty if the group is no consumer group, was just deleted, may not be described, or does not answer. */
    private static <T> Optional<T> awaitOrEmpty(KafkaFuture<T> future) {
        try {
            return Optional.of(Clusters.await(future));
        } catch (ExecutionException e) {
            return Optional.empty();
        }
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
