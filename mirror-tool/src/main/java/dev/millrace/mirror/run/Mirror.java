package dev.millrace.mirror.run;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.cluster.LogSizes;
import dev.millrace.mirror.cluster.MatchingTopics;
import dev.millrace.mirror.cluster.PausedEnds;
import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.MirrorPolicies;
import dev.millrace.mirror.config.PartitionSizes;
import dev.millrace.mirror.control.Lifecycle;
import dev.millrace.mirror.control.Timers;
import dev.millrace.mirror.control.TopicControls;
import dev.millrace.mirror.copy.RunningMirror;
import dev.millrace.mirror.fetch.FetchSettings;
import dev.millrace.mirror.groups.GroupSync;
import dev.millrace.mirror.member.Member;
import dev.millrace.mirror.member.MirrorMembers;
import dev.millrace.mirror.member.SourceGroupMembers;
import dev.millrace.mirror.member.TargetGroupMembers;
import dev.millrace.mirror.progress.BothClusters;
import dev.millrace.mirror.progress.CommitForm;
import dev.millrace.mirror.progress.CopiedOffsets;
import dev.millrace.mirror.progress.CopiedTopics;
import dev.millrace.mirror.progress.FirstStart;
import dev.millrace.mirror.progress.FormerProgress;
import dev.millrace.mirror.progress.MirrorGroup;
import dev.millrace.mirror.progress.MirrorPositions;
import dev.millrace.mirror.progress.ProgressConflict;
import dev.millrace.mirror.progress.SourceChanges;
import dev.millrace.mirror.progress.SourceGaps;
import dev.millrace.mirror.progress.TopicIdentities;
import dev.millrace.mirror.refused.DeadLetters;
import dev.millrace.mirror.refused.RefusedRecordReport;
import dev.millrace.mirror.resume.ForeignPositions;
import dev.millrace.mirror.status.MirrorObserver;
import dev.millrace.mirror.status.MirrorStatus;
import dev.millrace.mirror.status.MirrorTotals;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import dev.millrace.mirror.topics.ClusterSync;
import dev.millrace.mirror.topics.LargestRecord;
import dev.millrace.mirror.topics.RefusedTopics;
import dev.millrace.mirror.topics.SubscribedTopics;
import dev.millrace.mirror.topics.TargetDiagnosis;
import dev.millrace.mirror.topics.TargetPartitions;
import dev.millrace.mirror.topics.TargetTopics;
import dev.millrace.mirror.topics.TargetWatch;
import dev.millrace.mirror.topics.TopicLimits;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/**
 * Mirrors topics from one cluster to another: {@link Member}s of a group feed one shared producer.
 *
 * <p>It runs until it is stopped or something fails. A failure of any part stops the whole mirror, and {@link #run}
 * throws it: a mirror that continued with fewer threads would look healthy.
 *
 * <p><b>Threads:</b> one thread calls {@link #run}, once; any thread may call the rest.
 */
public final class Mirror {
    /** Without a time-out, an admin client waits for pending requests even if the cluster is down. */
    private static final Duration ADMIN_CLOSE_TIMEOUT = Duration.ofSeconds(1);

    private final MirrorConfig config;
    private final MirrorObserver observer;
    private final Lifecycle lifecycle;
    /** Written before the members' threads start. */
    private String targetId = "";

    private final CopiedTopics copied = new CopiedTopics();
    private final SourceGaps gaps;
    private final RefusedRecordReport refused;
    private final RefusedTopics refusedTopics;
    private final Monitor monitor;
    private final MemberThreads members;
    private final TopicControls controls = new TopicControls();
    private final PausedEnds pausedEnds = new PausedEnds();

    public Mirror(MirrorConfig config, MirrorObserver observer) {
        this.config = config;
        this.observer = observer;
        this.lifecycle = new Lifecycle(memberCount());
        this.gaps = new SourceGaps(config.policies().onGap());
        this.refused = new RefusedRecordReport(config.policies().onRefused());
        this.refusedTopics = new RefusedTopics(config);
        this.monitor = new Monitor(lifecycle, controls, config, gaps, refused, refusedTopics);
        this.members = new MemberThreads(memberCount(), config, lifecycle, observer, monitor);
    }

    /**
     * Mirrors until {@link #stop}. Then it returns within about 40 s, once all sent records are acknowledged and
     * committed. Waits for the clusters and for topics as {@link MirrorPolicies} says.
     *
     * @throws MirrorException when a cluster does not answer, nothing matches, or a record could not be written
     */
    public void run() {
        StartWait start =
                new StartWait(config.policies().waitAtStart(), lifecycle, System::nanoTime, monitor::onWaiting);
        try {
            run(start);
        } catch (StartWait.Stopped e) {
            // It has copied nothing yet, so there is nothing to finish.
        }
        throwIfFailed(lifecycle.failureOrNull());
    }

    private void run(StartWait start) {
        Admin source = start.repeat(() -> Clusters.connect("source", DerivedConfigs.admin(config.consumer())));
        try {
            run(source, start);
        } finally {
            source.close(ADMIN_CLOSE_TIMEOUT);
        }
    }

    private void run(Admin source, StartWait start) {
        Admin target = start.repeat(() -> Clusters.connect("target", DerivedConfigs.admin(config.producer())));
        try {
            run(source, target, start);
        } finally {
            target.close(ADMIN_CLOSE_TIMEOUT);
        }
    }

    private void run(Admin source, Admin target, StartWait start) {
        String sourceId = start.repeat(() -> Clusters.clusterId(source, config.consumer()));
        targetId = start.repeat(() -> Clusters.clusterId(target, config.producer()));
        Clusters.checkDistinct(sourceId, targetId);
        MatchingTopics matching =
                start.repeat(() -> MatchingTopics.ask(source, config).requireSome());
        refusedTopics.update(matching);
        Set<String> topics = matching.mirrored();
        try (OppositeMirror opposite = new OppositeMirror(source, target, sourceId, targetId, config)) {
            start.repeat(opposite::check);
            String groupOnTarget = MirrorGroup.onTarget(config, sourceId);
            Map<String, Object> consumer = start.repeat(() -> prepareGroup(source, target, groupOnTarget));
            MirrorConfig sized =
                    start.repeat(() -> LargestRecord.of(config, target).addTo(config));
            refusedTopics.tellOfNamesWithoutTopic(topics);
            observer.onStarted(topics);
            opposite.watch(lifecycle::fail);
            try (JmxBeans jmx = new JmxBeans(
                            consumer.get(ConsumerConfig.GROUP_ID_CONFIG).toString());
                    refused;
                    TopicIdentities identities = new TopicIdentities(names -> Clusters.topicIdsInTime(source, names))) {
                jmx.show("SourceGaps", gaps);
                jmx.show("RefusedRecords", refused);
                jmx.show("Mirror", new MirrorBean(monitor::status));
                identities.watch();
                CommitForm form = new CommitForm(config, targetId, identities::ofMissing, copied);
                MirrorPositions progress =
                        start.repeat(() -> MirrorPositions.read(config, source, target, sourceId, targetId));
                DirectionCheck.requireCutover(config, progress, topics);
                start.repeat(() -> DirectionCheck.requireNotTurned(
                        new BothClusters(config, source, target, sourceId, targetId, progress.group()), progress));
                start.repeat(() -> new ForeignPositions(config, source, target).tell(progress));
                Set<TopicPartition> unplaced =
                        start.repeat(() -> new FirstStart(form, source, consumer).place(topics, progress, identities));
                PartitionSizes sizes = new LogSizes("source", source);
                Groups groups = new Groups(
                        DerivedConfigs.withSizes(
                                consumer, config.isExactlyOnce() ? sizes.ofCopies(config.names()) : sizes),
                        groupOnTarget,
                        form,
                        progress,
                        unplaced);
                runWithTarget(sized, groups, new SourceChanges(gaps, identities), topics, source, target);
            }
        }
    }

    /**
     * The groups in which progress is kept.
     *
     * @param consumer configuration with the group on the source
     * @param onTarget the group on the target, for exactly once
     * @param form of what is committed to them
     * @param progress that the mirror had when it started, before {@link FirstStart#place}
     * @param unplaced as {@link FirstStart#place} returns them
     */
    private record Groups(
            Map<String, Object> consumer,
            String onTarget,
            CommitForm form,
            MirrorPositions progress,
            Set<TopicPartition> unplaced) {}

    private Map<String, Object> prepareGroup(Admin source, Admin target, String groupOnTarget) {
        Map<String, Object> consumer = withSourceGroup();
        if (config.isExactlyOnce()) {
            String group = consumer.get(ConsumerConfig.GROUP_ID_CONFIG).toString();
            ProgressConflict.requireNoMembers(
                    group,
                    source.describeConsumerGroups(List.of(group))
                            .describedGroups()
                            .get(group));
            new FormerProgress(config, targetId, groupOnTarget, true).check(target);
        } else {
            ProgressConflict.requireNoProgress(
                    groupOnTarget,
                    target.listConsumerGroupOffsets(groupOnTarget).partitionsToOffsetAndMetadata(),
                    MirrorGroup.mark(targetId));
            String group = consumer.get(ConsumerConfig.GROUP_ID_CONFIG).toString();
            new FormerProgress(config, targetId, group, false).check(source);
        }
        return consumer;
    }

    private Map<String, Object> withSourceGroup() {
        return config.consumer().containsKey(ConsumerConfig.GROUP_ID_CONFIG)
                ? config.consumer()
                : MirrorGroup.withGroup(config.consumer(), MirrorGroup.onSource(config, targetId));
    }

    /** @param sized the configuration with a producer that takes the largest record */
    private void runWithTarget(
            MirrorConfig sized,
            Groups groups,
            SourceChanges changes,
            Set<String> matching,
            Admin source,
            Admin target) {
        CopiesOnTarget copies = new CopiesOnTarget(target, config.names());
        AtomicReference<TargetPartitions> prepared = new AtomicReference<>();
        TargetTopics topics = new TargetTopics(
                source,
                copies,
                config.policies().sync().excludedSettings(),
                topic -> prepared.get().isCopied(topic));
        ScheduledExecutorService preparing = Timers.daemon("mirror-target");
        ScheduledExecutorService watching = Timers.daemon("mirror-watch");
        try {
            TargetPartitions partitions =
                    new TargetPartitions(topics, lifecycle::fail, refusedTopics, copied, preparing, System::nanoTime);
            prepared.set(partitions);
            TargetWatch watch = new TargetWatch(
                    new TargetDiagnosis(copies, partitions)::findCause,
                    refusedTopics::isRefusedByTarget,
                    config.policies().waitForTarget(),
                    lifecycle::fail,
                    monitor::partitionCounters);
            // All at once, before members ask for theirs. If it fails, the member that needs a topic tries again and
            // reports it.
            preparing.execute(() -> topics.prepare(toCreate(matching, groups.progress)));
            Timers.repeat(preparing, partitions::prepareWanted, lifecycle::fail);
            Timers.repeat(preparing, partitions::lookIfDue, lifecycle::fail);
            Timers.repeat(watching, () -> watch.look(System.nanoTime()), lifecycle::fail);
            Timers.repeat(watching, () -> monitor.look(System.nanoTime()), lifecycle::fail);
            Timers.repeat(preparing, () -> refusedTopics.lookIfDue(source, System.nanoTime()), lifecycle::fail);
            IsolationLevel isolation = FetchSettings.isolation(new ConsumerConfig(config.consumer()));
            Timers.repeat(
                    watching,
                    () -> pausedEnds.ask(source, isolation, monitor.pausedPartitions(), System.nanoTime()),
                    lifecycle::fail);
            MirrorMembers.Shared shared = new MirrorMembers.Shared(
                    changes, groups.unplaced, partitions, watch, topicLimits(target), source, copies);
            String ownGroup = config.isExactlyOnce()
                    ? groups.onTarget
                    : groups.consumer.get(ConsumerConfig.GROUP_ID_CONFIG).toString();
            try (GroupSync sync =
                            GroupSync.startOrNull(config, ownGroup, source, target, () -> !lifecycle.isRunning());
                    ClusterSync ofClusters = new ClusterSync(config, source, copies)) {
                ofClusters.start();
                RunningMirror running = new RunningMirror(
                        sized,
                        lifecycle,
                        groups.form,
                        observer,
                        controls,
                        pausedEnds,
                        sync == null ? CopiedOffsets.NONE : sync.offsets());
                if (config.isExactlyOnce()) {
                    SubscribedTopics subscribed = new SubscribedTopics(
                            () -> Clusters.partitionCounts(
                                    source, MatchingTopics.ask(source, config).mirrored()),
                            topics,
                            refusedTopics,
                            lifecycle::fail,
                            topicInterval());
                    Timers.repeat(preparing, () -> subscribed.refreshIfDue(System.nanoTime()), lifecycle::fail);
                    members.run(
                            new TargetGroupMembers(running, groups.consumer, groups.onTarget, subscribed, shared),
                            ownGroup,
                            shared);
                } else {
                    Timers.repeat(watching, () -> refused.reportEachMinute(System.nanoTime()), lifecycle::fail);
                    try (DeadLetters letters = new DeadLetters(config.policies().onRefused(), source, target, config)) {
                        members.run(
                                new SourceGroupMembers(running, groups.consumer, shared, refused, letters),
                                ownGroup,
                                shared);
                    }
                }
            }
        } finally {
            lifecycle.end();
            preparing.shutdownNow();
            watching.shutdownNow();
        }
    }

    /**
     * Returns the topics to create if the target lacks them. With exactly once a topic's progress goes with the topic,
     * and the group needs the topics.
     */
    private Set<String> toCreate(Set<String> matching, MirrorPositions progress) {
        return config.isExactlyOnce() ? matching : progress.withoutAny(matching);
    }

    /** Returns the number of members in this process, each of which has a consumer. */
    private int memberCount() {
        return config.mode().isFetching() ? 1 : config.threads();
    }

    /** Returns how often the mirror looks for new topics. */
    private Duration topicInterval() {
        return Duration.ofMillis(new ConsumerConfig(config.consumer()).getLong(ConsumerConfig.METADATA_MAX_AGE_CONFIG));
    }

    private TopicLimits topicLimits(Admin target) {
        ProducerConfig producer = new ProducerConfig(config.producer());
        long memory = producer.getLong(ProducerConfig.BUFFER_MEMORY_CONFIG);
        return new TopicLimits(
                target,
                (int) Math.min(memory, producer.getInt(ProducerConfig.MAX_REQUEST_SIZE_CONFIG)),
                Optional.ofNullable(config.producer().get(ProducerConfig.COMPRESSION_TYPE_CONFIG))
                        .map(Object::toString));
    }

    /** Tells the mirror to stop: to wait for the records it has sent, commit, and end. Returns at once. */
    public void stop() {
        lifecycle.stop();
    }

    /** Describes for the user what would be left if the process ended now. Does not block. */
    public String describeLeft() {
        MirrorTotals totals = monitor.totals();
        String next = switch (config.policies().resume()) {
            case EXACT -> "the next start mirrors them, and leaves out those that the target has";
            case EXACTLY_ONCE -> "the next start mirrors them, and all that was written since the last commit";
            case AT_LEAST_ONCE ->
                "the next start mirrors them, and what was written since the last commit a second time";
        };
        return Words.count(Math.max(0, totals.inFlight()), "record") + " of " + Words.count(totals.sent(), "record")
                + " sent to the target are not known to be written; " + next;
    }

    /** Returns what the mirror is doing now. Does not block. */
    public MirrorStatus status() {
        return monitor.status();
    }

    /** Returns the controls that pause, resume and throttle topics; they also work before the mirror runs. */
    public TopicControls controls() {
        return controls;
    }

    private static void throwIfFailed(Throwable failure) {
        if (failure != null) {
            throw MirrorException.stopped(failure);
        }
    }
}
