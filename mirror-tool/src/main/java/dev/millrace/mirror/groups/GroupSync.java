package dev.millrace.mirror.groups;

import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.config.ClusterRole;
import dev.millrace.mirror.config.GroupPolicy;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.control.Timers;
import dev.millrace.mirror.mm2.Mm2Checkpoints;
import dev.millrace.mirror.mm2.Mm2OffsetSyncs;
import dev.millrace.mirror.offsets.Translation;
import dev.millrace.mirror.progress.CommittedOffsets;
import dev.millrace.mirror.progress.CopiedOffsets;
import dev.millrace.mirror.progress.GroupOffsets;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import dev.millrace.mirror.topics.CompactedTopic;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the committed offsets of groups of the source on the target, translated, so that the groups can go on there.
 * Each process writes those of the partitions that it copies. It writes nothing for a group that has members at the
 * target, and only offsets after those that are there: a group that went on at the target and then stopped is further
 * there than at the source.
 *
 * <p><b>Threads:</b> a timer of its own; the thread that runs the mirror calls {@link #close}.
 */
public final class GroupSync implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(GroupSync.class);
    /** Allows for partitions without a leader that are being asked for, and for the last writes. */
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

    private final Pattern names;
    private final long intervalNanos;
    private final String ownGroup;
    private final CopiesOnTarget copies;
    private final OffsetMap map;
    private final OffsetMapTopic topic;
    private final Optional<Mm2Checkpoints> checkpoints;
    private final Optional<Mm2OffsetSyncs> offsetSyncs;
    private final Admin source;
    private final Admin target;
    private final CommittedOffsets committedOnSource;
    private final CommittedOffsets committedOnTarget;
    private final ScheduledExecutorService timer = Timers.daemon("mirror-groups");
    private final Set<String> told = new HashSet<>();
    private final Set<String> toldActive = new HashSet<>();
    private final Set<String> toldShare = new HashSet<>();
    private final GroupNews news = new GroupNews();
    private long lastNanos = System.nanoTime();

    private GroupSync(MirrorConfig config, String ownGroup, Admin source, Admin target, BooleanSupplier isStopping) {
        GroupPolicy policy = config.policies().groups();
        this.names = policy.names().orElseThrow();
        this.intervalNanos = policy.interval().toNanos();
        this.ownGroup = ownGroup;
        this.topic = new OffsetMapTopic(ownGroup, target, config);
        CompactedTopic.Home onTarget = CompactedTopic.Home.target(target, config);
        this.checkpoints = policy.checkpointsAlias().map(alias -> new Mm2Checkpoints(alias, onTarget));
        this.offsetSyncs = policy.offsetSyncs()
                .map(place -> new Mm2OffsetSyncs(
                        place.alias(),
                        place.cluster() == ClusterRole.TARGET ? onTarget : CompactedTopic.Home.source(source, config)));
        this.copies = new CopiesOnTarget(target, config.names());
        this.map = new OffsetMap(topic, source, copies, isStopping);
        this.source = source;
        this.target = target;
        this.committedOnSource = new CommittedOffsets(source);
        this.committedOnTarget = new CommittedOffsets(target);
    }

    /**
     * Starts, if the mirror is to keep the offsets of groups; otherwise returns null.
     *
     * @param ownGroup of the mirror, which is left alone
     * @param isStopping whether the mirror was told to stop
     */
    public static GroupSync startOrNull(
            MirrorConfig config, String ownGroup, Admin source, Admin target, BooleanSupplier isStopping) {
        if (config.policies().groups().names().isEmpty()) {
            return null;
        }
        GroupSync sync = new GroupSync(config, ownGroup, source, target, isStopping);
        Timers.repeat(sync.timer, () -> sync.run(System.nanoTime()), GroupSync::tell);
        return sync;
    }

    /** Returns what a member tells where its records are at the target. */
    public CopiedOffsets offsets() {
        return map.ofMember();
    }

    private static void tell(Throwable failure) {
        LOG.warn(
                "Offsets of groups cannot be kept on the target now; trying again: {}",
                MirrorException.reason(failure));
    }

    private void run(long nowNanos) {
        map.keep(nowNanos);
        if (nowNanos - lastNanos >= intervalNanos) {
            lastNanos = nowNanos;
            synchronize();
        }
    }

    private void synchronize() {
        tellShareGroups();
        Set<TopicPartition> loaded = map.loaded();
        Map<String, Map<TopicPartition, OffsetAndMetadata>> committed =
                GroupOffsets.ofConsumers(committedOnSource, names, ownGroup);
        Set<TopicPartition> partitions = new HashSet<>(offsetSyncs.isPresent() ? loaded : Set.of());
        committed.values().forEach(of -> {
            of.keySet().retainAll(loaded);
            partitions.addAll(of.keySet());
        });
        committed.values().removeIf(Map::isEmpty);
        GroupTranslation translation = GroupTranslation.of(partitions, copies, map::runs);
        if (!committed.isEmpty()) {
            commit(committed, translation);
        }
        checkpoints.ifPresent(kept -> writeCheckpoints(kept, committed, translation));
        offsetSyncs.ifPresent(syncs -> writeOffsetSyncs(syncs, translation));
    }

    /** Commits for those groups that have no members on the target. */
    private void commit(Map<String, Map<TopicPartition, OffsetAndMetadata>> committed, GroupTranslation translation) {
        Map<String, Map<TopicPartition, OffsetAndMetadata>> behind =
                new TreeMap<>(committedOnTarget.of(committed.keySet()));
        behind.entrySet()
                .removeIf(of -> newer(committed.get(of.getKey()), of.getValue(), translation)
                        .isEmpty());
        if (!behind.isEmpty()) {
            Map<String, GroupListing> listed = GroupOffsets.listed(target);
            for (String group : behind.keySet()) {
                commitUnlessActive(group, listed.get(group), committed.get(group), translation);
            }
        }
        news.tell();
    }

    /**
     * Commits for the group if it has no members. Unless the list says that it has, asks about this group alone, for
     * earlier ones may have taken long. Looks for members first and reads offsets then, so it also reads what
     * members that leave in between have committed.
     */
    private void commitUnlessActive(
            String group,
            GroupListing listedOrNull,
            Map<TopicPartition, OffsetAndMetadata> committed,
            GroupTranslation translation) {
        if (GroupOffsets.hasMembers(listedOrNull) || GroupOffsets.hasMembers(target, group, listedOrNull)) {
            tellActive(group);
            return;
        }
        Map<TopicPartition, OffsetAndMetadata> there =
                committedOnTarget.of(Set.of(group)).get(group);
        if (there != null) {
            Map<TopicPartition, OffsetAndMetadata> newer = newer(committed, there, translation);
            if (!newer.isEmpty()) {
                commit(group, newer);
            }
        }
    }

    /** Returns newer offsets by partition of the target, like {@code there}. */
    private Map<TopicPartition, OffsetAndMetadata> newer(
            Map<TopicPartition, OffsetAndMetadata> committed,
            Map<TopicPartition, OffsetAndMetadata> there,
            GroupTranslation translation) {
        Map<TopicPartition, OffsetAndMetadata> newer = new HashMap<>();
        committed.forEach((partition, position) -> {
            TopicPartition copy = copies.names().onTarget(partition);
            translation
                    .translate(partition, position.offset())
                    .map(Translation::target)
                    .filter(to -> !there.containsKey(copy) || there.get(copy).offset() < to)
                    .ifPresent(to -> newer.put(copy, new OffsetAndMetadata(to, position.metadata())));
        });
        return newer;
    }

    private void commit(String group, Map<TopicPartition, OffsetAndMetadata> offsets) {
        Optional<Throwable> failure = GroupOffsets.commitKeepingLater(target, group, offsets);
        if (failure.isEmpty()) {
            toldActive.remove(group);
            if (told.add(group)) {
                news.add("The offsets of {} are kept on the target, too", group);
            }
        } else if (failure.get() instanceof UnknownMemberIdException) {
            tellActive(group); // it has got members just now
        } else {
            news.addFailure("The offsets of {} cannot be written to the target: {}", group, failure.get());
        }
    }

    /** Writes for all groups, even those with members on the target: programs decide what to do with them. */
    private void writeCheckpoints(
            Mm2Checkpoints checkpoints,
            Map<String, Map<TopicPartition, OffsetAndMetadata>> committed,
            GroupTranslation translation) {
        committed.forEach((group, of) -> of.forEach((partition, position) -> translation
                .translate(partition, position.offset())
                .ifPresent(to -> checkpoints.add(group, copies.names().onTarget(partition), position, to.target()))));
        checkpoints.write();
    }

    private static void writeOffsetSyncs(Mm2OffsetSyncs syncs, GroupTranslation translation) {
        translation
                .runs()
                .keySet()
                .forEach(partition -> translation.lastCopy(partition).ifPresent(last -> syncs.add(partition, last)));
        syncs.write();
    }

    private void tellShareGroups() {
        Set<String> share = GroupOffsets.shareGroups(source, names);
        share.removeAll(toldShare);
        if (toldShare.addAll(share)) {
            LOG.warn(
                    "What share groups have read cannot be kept on the target, for they have no offset before which all"
                            + " is read; not kept: {}",
                    Words.list(share, "group"));
        }
    }

    private void tellActive(String group) {
        if (toldActive.add(group)) {
            news.add("Offsets on the target stay as they are while groups have members there: {}", group);
        }
    }

    private void synchronizeLast() {
        try {
            synchronize(); // first, because it needs what is left to be written
        } finally {
            map.write();
        }
    }

    /** Writes the last known state, if the clusters answer in time. The members have ended. */
    @Override
    public void close() {
        CountDownLatch done = new CountDownLatch(1);
        timer.execute(() -> {
            try {
                synchronizeLast();
                if (map.loadLast()) { // which may take longer than there is time
                    synchronizeLast();
                }
            } catch (RuntimeException failure) {
                if (!timer.isShutdown()) { // otherwise it is the interrupt
                    tell(failure);
                }
            } finally {
                done.countDown();
            }
        });
        try {
            if (!done.await(CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.warn("The last offsets of groups are not written to the target: it does not answer in time");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        timer.shutdownNow();
        topic.close();
        checkpoints.ifPresent(Mm2Checkpoints::close);
        offsetSyncs.ifPresent(Mm2OffsetSyncs::close);
    }
}
