package dev.millrace.mirror.member;

import dev.millrace.mirror.copy.PartitionCopier;
import dev.millrace.mirror.copy.RunningMirror;
import dev.millrace.mirror.progress.OffsetCommits;
import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.progress.SourceTopics;
import dev.millrace.mirror.progress.UnplacedPartitions;
import dev.millrace.mirror.refused.RecordWithdrawal;
import dev.millrace.mirror.status.MirrorTotals;
import dev.millrace.mirror.status.StallCause;
import dev.millrace.mirror.status.ThreadCounters;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.topics.TargetPartitions;
import dev.millrace.mirror.topics.TargetWatch;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.clients.consumer.NoOffsetForPartitionException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One member of the mirror's group: a consumer and the thread that polls it. Its {@link PartitionCopier} copies the
 * partitions that the member owns; the thread commits what the target has acknowledged.
 *
 * <p>It never flushes the producer. It commits in the background about once a second, each partition up to the position
 * that its copier reports. When a partition is revoked, the thread takes back its unsent records ({@link
 * RecordWithdrawal}), waits for those in flight, and commits them; its other partitions stay in flight meanwhile.
 *
 * <p>At the end the thread does the same with all its partitions. Then it stays in the group until the other members
 * have done so, too: leaving causes a rebalance, in which the others could not commit. It also goes on polling, because
 * a rebalance in progress could not finish without it. The copier is closed after that.
 *
 * <p>The thread polls on however long the target takes nothing: the producer blocks it for {@code max.block.ms} at
 * most, if at all, and {@link TargetPartitions} prepares partitions of the target in another thread. So {@code
 * max.poll.interval.ms} can stay bounded, and a thread that hangs loses its partitions.
 *
 * <p><b>Threads:</b> {@link #run} in a thread of its own, {@link #totals} in any. The consumer calls the rebalance
 * callbacks within {@code poll} and {@code close}, so in the same thread.
 * <p><b>Ordering:</b> that of the copier; only the thread uses everything else.
 */
final class SourceGroupMember implements Member, ConsumerRebalanceListener {
    private static final Logger LOG = LoggerFactory.getLogger(SourceGroupMember.class);

    private static final Duration BUSY_POLL = Duration.ofMillis(5);

    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long DRAIN_NANOS = TimeUnit.SECONDS.toNanos(18);
    /** Applies while the target takes nothing: waiting longer rarely helps. */
    private static final long DRAIN_OF_WAITING_NANOS = TimeUnit.SECONDS.toNanos(3);

    private static final long DRAIN_AND_COMMIT_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);

    private final RunningMirror mirror;
    private final Consumer<byte[], byte[]> consumer;
    private final SourcePositions positions;
    private final TargetPartitions target;
    private final TargetWatch watch;
    private final PartitionCopier copier;
    private final ConsumerPolls polls;
    private final InFlightRecords inFlight;
    private final SourceTopics source;
    private final OffsetCommits commits;
    private final TargetLosses losses;

    /** The consumer's position of these partitions means nothing. */
    private final UnplacedPartitions unplaced = new UnplacedPartitions();

    private final Rounds rounds = new Rounds(System.nanoTime());

    SourceGroupMember(
            RunningMirror mirror,
            Consumer<byte[], byte[]> consumer,
            SourcePositions positions,
            TargetPartitions target,
            TargetWatch watch,
            PartitionCopier copier,
            RecordWithdrawal givenUp) {
        this.mirror = mirror;
        this.consumer = consumer;
        this.positions = positions;
        this.target = target;
        this.watch = watch;
        this.copier = copier;
        this.polls = new ConsumerPolls(consumer, copier);
        this.inFlight = new InFlightRecords(copier, givenUp);
        this.source = new SourceTopics(consumer);
        this.losses = new TargetLosses(mirror, positions);
        this.commits = new OffsetCommits(consumer, source, mirror.copiedOffsets()::onCommitted);
    }

    /** Runs until the mirror stops. Any failure, even an Error, stops the mirror. */
    @Override
    public void run() {
        try {
            consumer.subscribe(mirror.config().mirroredTopics(), this);
            while (mirror.isRunning()) {
                forwardNext();
                rounds.onWork(copier.advance() || !unplaced.partitions().isEmpty());
                long now = System.nanoTime();
                if (rounds.isDue(now)) {
                    commits.commitInBackground(copier.positions(copier.partitions()));
                    startAnew(positions.replaced(copier.partitions()));
                    placeTheRest(now);
                    goOnAfterLoss();
                    copier.measureLag(now, losses.withStopped(unplaced.partitions()));
                    losses.stopped()
                            .forEach(
                                    partition -> copier.counters().of(partition).onStalled(StallCause.STOPPED));
                    watch.report(this, copier.waiting());
                }
            }
        } catch (Throwable failure) {
            mirror.fail(failure);
        } finally {
            commitLast();
            mirror.attempt(copier::close);
            mirror.attempt(() -> consumer.close(CloseOptions.timeout(CLOSE_TIMEOUT)));
        }
    }

    private void forwardNext() {
        try {
            polls.next();
        } catch (OffsetOutOfRangeException lost) {
            try {
                recover(lost);
            } catch (RetriableException e) { // the next poll throws again
                LOG.warn(
                        "The source does not tell where to go on with {}; asking again: {}",
                        lost.partitions(),
                        MirrorException.reason(e));
            }
        }
    }

    private void recover(OffsetOutOfRangeException lost) {
        Set<TopicPartition> replaced = positions.askForReplaced(lost.partitions());
        if (replaced.isEmpty()) {
            copier.onOutOfRange(lost);
        } else {
            startAnew(replaced); // the next poll throws for the others, if there are any
        }
    }

    /** Copies partitions from the beginning whose topic was deleted from the source and created again. */
    private void startAnew(Set<TopicPartition> replaced) {
        if (!replaced.isEmpty()) {
            Map<TopicPartition, OffsetAndMetadata> progress = copier.positions(replaced);
            giveUp(replaced);
            copier.add(positions.beginAnew(replaced, progress));
            target.prepare(replaced);
        }
    }

    /** Before the target gets a topic again, no records for the former one may be in flight. */
    private void goOnAfterLoss() {
        Map<TopicPartition, Uuid> lost = target.lost(copier.partitions());
        if (lost.isEmpty()) {
            return;
        }
        consumer.pause(lost.keySet()); // a copier that reads with this consumer resumes those that begin again
        copier.stopReading(lost.keySet());
        inFlight.withdraw(lost.keySet(), System.nanoTime() + InFlightRecords.WITHOUT_PROGRESS_NANOS);
        try {
            Map<TopicPartition, SourcePositions.Start> starts = losses.decide(lost, copier.positions(lost.keySet()));
            Set<TopicPartition> stopped = new HashSet<>(lost.keySet());
            stopped.removeAll(starts.keySet());
            giveUp(lost.keySet());
            losses.stop(stopped);
            copier.add(starts);
            target.prepare(starts.keySet());
        } catch (RetriableException e) {
            LOG.debug("The source does not tell what it has of {}; asking again", lost.keySet(), e);
        }
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        consumer.pause(partitions); // a copier that reads with this consumer resumes them
        Set<TopicPartition> gone = partitions.isEmpty() ? Set.of() : source.findMissing(partitions);
        Map<TopicPartition, SourcePositions.Start> starts = findStarts(partitions, gone);
        copier.add(starts);
        unplaced.onAsked(partitions, starts.keySet());
        unplaced.partitions().forEach(partition -> consumer.seek(partition, 0)); // or it would look for one itself
        target.prepare(starts.keySet());
        warnOfGone(gone);
    }

    /** Begins the partitions for which the source did not tell the start when they were assigned. */
    void placeTheRest(long now) {
        Set<TopicPartition> due = unplaced.due(now);
        if (due.isEmpty()) {
            return;
        }
        Map<TopicPartition, SourcePositions.Start> starts = Map.of();
        try {
            starts = positions.find(due, Set.of());
        } catch (RetriableException e) {
            LOG.debug("The source does not tell yet where to begin with {}", due, e);
        }
        unplaced.onAsked(due, starts.keySet());
        copier.add(starts);
        target.prepare(starts.keySet());
    }

    /** Asks the source for as long as it takes; a member away for {@code max.poll.interval.ms} rejoins after that. */
    private Map<TopicPartition, SourcePositions.Start> findStarts(
            Collection<TopicPartition> partitions, Set<TopicPartition> gone) {
        while (mirror.isRunning()) {
            try {
                return positions.find(partitions, gone);
            } catch (RetriableException e) {
                LOG.warn(
                        "The source does not tell where to begin with the partitions that were assigned; asking again:"
                                + " {}",
                        MirrorException.reason(e));
                LockSupport.parkNanos(RETRY_NANOS);
            } catch (NoOffsetForPartitionException e) {
                mirror.fail(e); // if thrown, the consumer would log it as a failure of its listener
            }
        }
        return positions.nowhere(partitions);
    }

    /**
     * Waits until the records of these partitions are acknowledged, and commits them, within about 20 s. Does not wait
     * for a topic that was deleted from the source: its offsets cannot be committed, and nobody can read it again.
     */
    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        long start = System.nanoTime();
        Set<TopicPartition> gone = new HashSet<>(source.unsubscribed(partitions));
        giveUp(gone);
        copier.stopReading(partitions);
        inFlight.withdraw(partitions, start + DRAIN_NANOS);
        drain(partitions, start + DRAIN_NANOS);
        Map<TopicPartition, OffsetAndMetadata> positions = copier.positions(partitions);
        try {
            gone.addAll(commits.commit(positions, start + DRAIN_AND_COMMIT_NANOS));
        } catch (KafkaException e) {
            reportUncommitted(positions, e);
        }
        giveUp(partitions);
        warnOfGone(gone);
    }

    /** Commits nothing, because the partitions already belong to another member. */
    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        copier.stopReading(partitions);
        inFlight.withdraw(partitions, System.nanoTime() + DRAIN_NANOS);
        copier.advance();
        if (!commits.uncommitted(copier.positions(partitions)).isEmpty()
                || !copier.awaited(partitions).isEmpty()) {
            reportRepeats(
                    "Lost " + partitions + " to another member of the group; their last records may be mirrored twice");
        }
        giveUp(partitions);
    }

    private void drain(Collection<TopicPartition> partitions, long deadlineNanos) {
        List<TopicPartition> left = copier.await(partitions, deadlineNanos);
        if (!left.isEmpty()) {
            reportRepeats("The target has not acknowledged the last records of " + left
                    + " in time; they are not committed and will be mirrored again");
        }
    }

    private void giveUp(Collection<TopicPartition> partitions) {
        unplaced.remove(partitions);
        losses.forget(partitions);
        copier.giveUp(partitions);
        target.forget(partitions);
        commits.forget(partitions);
        mirror.copiedOffsets().giveUp(partitions);
    }

    private static void warnOfGone(Set<TopicPartition> gone) {
        gone.stream()
                .collect(Collectors.groupingBy(
                        TopicPartition::topic,
                        TreeMap::new,
                        Collectors.mapping(TopicPartition::partition, Collectors.toCollection(TreeSet::new))))
                .forEach((topic, partitions) -> LOG.warn(
                        "Topic {} has gone from the source, partitions {}; the mirror no longer copies them or commits"
                                + " their progress",
                        topic,
                        partitions));
    }

    private void reportUncommitted(Map<TopicPartition, OffsetAndMetadata> positions, KafkaException cause) {
        reportRepeats("Could not commit " + commits.uncommitted(positions)
                + ", the last records will be mirrored again: " + MirrorException.reason(cause));
    }

    /** Reports that records will be mirrored again: as a warning while the mirror runs, as a failure while it stops. */
    private void reportRepeats(String message) {
        if (mirror.isRunning()) {
            LOG.warn(message);
        } else {
            mirror.fail(MirrorException.failed(message));
        }
    }

    /** Waits for the outstanding records, commits them, and waits until the other threads have done the same. */
    private void commitLast() {
        long start = System.nanoTime();
        long drainNanos = watch.isWaiting() ? DRAIN_OF_WAITING_NANOS : DRAIN_NANOS;
        watch.report(this, Map.of()); // this method logs what it waits for
        mirror.attempt(() -> commitAll(start + drainNanos, start + DRAIN_AND_COMMIT_NANOS));
        copier.clear(); // closing revokes all partitions; by now they are committed or reported
        mirror.lifecycle().onMemberCommitted();
        mirror.attempt(() -> awaitOthers(start + DRAIN_AND_COMMIT_NANOS));
    }

    private void commitAll(long drainDeadline, long deadline) {
        copier.stopReading(copier.partitions());
        inFlight.awaitProgress(drainDeadline);
        drain(copier.partitions(), Math.min(drainDeadline, System.nanoTime()));
        while (!commitUnlessRebalancing(deadline)) {
            if (System.nanoTime() > deadline) {
                reportRepeats("A rebalance of the group kept the last records of " + copier.partitions()
                        + " from being committed; they will be mirrored again");
                return;
            }
            pollPaused();
        }
    }

    private void awaitOthers(long deadline) {
        while (!mirror.lifecycle().haveAllCommitted() && System.nanoTime() < deadline) {
            pollPaused();
        }
    }

    /** Polls without reading records, to take part in a rebalance that may be in progress. */
    private void pollPaused() {
        consumer.pause(consumer.assignment());
        try {
            // A partition assigned just now may return records. They are not sent, so they are not committed.
            ConsumerRecords<byte[], byte[]> unused = consumer.poll(BUSY_POLL);
        } catch (InvalidOffsetException e) {
            LOG.debug("Nothing is read any more, so no position is needed: {}", e.toString());
        }
    }

    /** Returns false if a rebalance prevented the commit, so that the caller has to poll and try again. */
    private boolean commitUnlessRebalancing(long deadline) {
        Map<TopicPartition, OffsetAndMetadata> positions = copier.positions(copier.partitions());
        try {
            warnOfGone(commits.commit(positions, deadline));
        } catch (RebalanceInProgressException e) {
            return false;
        } catch (KafkaException e) {
            reportUncommitted(positions, e);
        }
        return true;
    }

    @Override
    public MirrorTotals totals() {
        return copier.totals();
    }

    @Override
    public ThreadCounters counters() {
        return copier.counters();
    }
}
