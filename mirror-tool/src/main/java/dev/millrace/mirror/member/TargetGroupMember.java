package dev.millrace.mirror.member;

import dev.millrace.mirror.copy.BatchCopier;
import dev.millrace.mirror.copy.PartitionCopier;
import dev.millrace.mirror.copy.RunningMirror;
import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.progress.TargetProgress;
import dev.millrace.mirror.status.MirrorTotals;
import dev.millrace.mirror.status.StallCause;
import dev.millrace.mirror.status.ThreadCounters;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.topics.SubscribedTopics;
import dev.millrace.mirror.topics.TargetPartitions;
import dev.millrace.mirror.topics.TargetWatch;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A member of a mirror's group on the <em>target</em>, for exactly once. It subscribes to the target's topics, whose
 * partitions stand for those of the source; everything else in the member uses the source's names. Each transaction
 * contains the records and, as offsets of the group, the source positions after them; so they appear together or not at
 * all.
 *
 * <p>What fences a member that was away: the group's coordinator, which is on the target, takes positions only from a
 * member of the present generation. A partition's next owner reads the positions when no pending transaction could
 * change them. So of two members that have copied the same records, one at most can commit.
 *
 * <p>Before the member loses a partition in a rebalance, it ends the open transaction: while it owned the partition, no
 * other member copied it. If it was removed from the group, or anything else fails, it starts over: nothing of the open
 * transaction is committed, and all partitions begin again at the positions that the target has.
 *
 * <p><b>Threads:</b> {@link #run} in a thread of its own, {@link #totals} in any. The consumer calls the rebalance
 * callbacks within {@code poll} and {@code close}, so in the same thread.
 * <p><b>Ordering:</b> that of {@link TargetTransactions} and {@link BatchCopier}; only the thread uses everything else.
 */
final class TargetGroupMember implements Member, ConsumerRebalanceListener {
    private static final Logger LOG = LoggerFactory.getLogger(TargetGroupMember.class);

    private static final long END_NANOS = TimeUnit.SECONDS.toNanos(15);
    private static final long END_OF_WAITING_NANOS = TimeUnit.SECONDS.toNanos(3);
    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int MAX_DOUBLINGS = 5;
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);

    private final RunningMirror mirror;
    private final Consumers consumers;
    private final SubscribedTopics topics;
    private final TargetProgress progress;
    private final SourcePositions positions;
    private final TargetPartitions target;
    private final TargetWatch watch;
    private final TargetTransactions transactions;
    private final BatchCopier copier;
    private final ConsumerPolls polls;
    private final OpenTransaction open;
    private final UncopiedPartitions uncopied;
    private final TargetLosses losses;
    private Set<String> subscribed = Set.of();
    private final Rounds rounds = new Rounds(System.nanoTime());
    private long notBeforeNanos = System.nanoTime();
    private int failures;

    /**
     * The member's consumers.
     *
     * @param group on the target; its partitions are paused
     * @param source of the source, in no group
     */
    record Consumers(Consumer<byte[], byte[]> group, Consumer<byte[], byte[]> source) {}

    /** The member's view of the target: its topics, its partitions, and the watch to which the member reports. */
    record Target(SubscribedTopics topics, TargetPartitions partitions, TargetWatch watch) {}

    TargetGroupMember(
            RunningMirror mirror,
            Consumers consumers,
            Target target,
            TargetProgress progress,
            SourcePositions positions,
            TargetTransactions transactions,
            BatchCopier copier) {
        this.mirror = mirror;
        this.consumers = consumers;
        this.topics = target.topics();
        this.progress = progress;
        this.positions = positions;
        this.target = target.partitions();
        this.watch = target.watch();
        this.losses = new TargetLosses(mirror, positions);
        this.transactions = transactions;
        this.copier = copier;
        this.polls = new ConsumerPolls(consumers.group(), copier);
        this.uncopied = new UncopiedPartitions(topics, positions);
        this.open = new OpenTransaction(mirror.names(), transactions, copier);
    }

    /**
     * Runs until the mirror stops. Any failure that another transaction does not repair, even an Error, stops the
     * mirror.
     */
    @Override
    public void run() {
        try {
            while (mirror.isRunning()) {
                subscribe();
                if (!subscribed.isEmpty()) {
                    polls.next();
                } else {
                    LockSupport.parkNanos(PAUSE_NANOS); // until a topic is ready
                }
                rounds.onWork(copier.advance());
                long now = System.nanoTime();
                if (now - notBeforeNanos >= 0) {
                    goOn(now);
                }
                if (rounds.isDue(now)) {
                    startAnew(positions.replaced(copier.partitions()));
                    startAgain(target.lost(copier.partitions()));
                    copier.measureLag(now, uncopied.ofSource());
                    uncopied.held(now)
                            .forEach(
                                    partition -> copier.counters().of(partition).onStalled(StallCause.LEFT_OUT));
                    watch.report(this, waiting(now));
                }
            }
        } catch (Throwable failure) {
            mirror.fail(failure);
        } finally {
            watch.report(this, Map.of());
            mirror.attempt(this::commitLast);
            copier.clear(); // closing revokes all partitions; by now they are committed or reported
            mirror.lifecycle().onMemberCommitted();
            mirror.attempt(transactions::end);
            mirror.attempt(copier::close);
            mirror.attempt(() -> consumers.group.close(CloseOptions.timeout(CLOSE_TIMEOUT)));
            mirror.attempt(() -> consumers.source.close(CloseOptions.timeout(CLOSE_TIMEOUT)));
        }
    }

    private void subscribe() {
        Set<String> wanted = topics.topics();
        if (!wanted.equals(subscribed)) {
            subscribed = wanted;
            consumers.group.subscribe(
                    wanted.stream().map(mirror.names()::onTarget).toList(), this);
        }
    }

    // ---- transactions ----

    private void goOn(long now) {
        try {
            if (transactions.tryStart()) {
                startUncopied(now);
                if (open.isCommitDue(now) && !tryCommit()) {
                    holdWhatHangs(now);
                }
            }
        } catch (KafkaException e) {
            startOver(e);
        }
    }

    /** Returns whether everything written before is committed; to be called until it is. */
    private boolean tryCommit() {
        ConsumerGroupMetadata group = consumers.group.groupMetadata();
        if (copier.partitions().isEmpty()) {
            return true;
        }
        if (group.generationId() < 0) {
            throw new CommitFailedException("This process is no member of the group"); // the target would not check it
        }
        Optional<Map<TopicPartition, OffsetAndMetadata>> added = open.tryCommit(group);
        if (added.isEmpty()) {
            return false;
        }
        uncopied.onCommitted(added.get().keySet());
        mirror.copiedOffsets().onCommitted(added.get());
        failures = 0;
        return true;
    }

    /** Goes on without the partitions of which the target takes nothing, if it takes records of others. */
    private void holdWhatHangs(long now) {
        List<TopicPartition> hanging = open.hanging();
        if (!hanging.isEmpty()) {
            LOG.warn(
                    "The target takes nothing of {}; the transaction is aborted, and the others go on without them",
                    hanging);
            uncopied.hold(hanging, now);
            restart();
        }
    }

    /**
     * Tries to end the open transaction until the deadline, or until there is no hope; returns whether it is committed.
     */
    private boolean tryFinish(long deadlineNanos, BooleanSupplier isHopeless) {
        boolean isFinished = !transactions.isStarted() || tryCommit();
        while (!isFinished && System.nanoTime() < deadlineNanos && !isHopeless.getAsBoolean()) {
            LockSupport.parkNanos(PartitionCopier.CHECK_NANOS);
            copier.advance();
            isFinished = tryCommit();
        }
        return isFinished;
    }

    /** Ends the open transaction, or throws it away and starts over. */
    private void finishOrRestart() {
        try {
            if (!tryFinish(System.nanoTime() + END_NANOS, () -> false)) {
                LOG.warn("The target has not taken the open transaction in time; it is aborted, and written again");
                restart();
            }
        } catch (KafkaException e) {
            startOver(e);
        }
    }

    private void startOver(KafkaException cause) {
        if (!TransactionErrors.isTransactionOver(cause)) {
            awaitRefusedRecord();
            mirror.fail(MirrorException.failed("The target refuses a transaction of the mirror", cause));
            return;
        }
        LOG.warn(
                "A transaction is aborted, and the mirror goes on from the last that is committed: {}",
                MirrorException.reason(cause));
        restart();
    }

    /** Waits for a copy whose record was refused: it fails the mirror with an error that names the record. */
    private void awaitRefusedRecord() {
        long deadline = System.nanoTime() + SECOND_NANOS;
        while (mirror.isRunning() && System.nanoTime() < deadline) {
            LockSupport.parkNanos(PartitionCopier.CHECK_NANOS);
            copier.advance();
        }
    }

    /** Discards the open transaction; all partitions begin again at the positions that the target has. */
    private void restart() {
        Set<TopicPartition> all = copier.partitions();
        copier.stopReading(all);
        transactions.startOver();
        copier.giveUp(all);
        target.forget(all); // The next look at their progress says again where their copies should be.
        uncopied.add(all);
        open.onAborted();
        notBeforeNanos = System.nanoTime() + (PAUSE_NANOS << Math.min(failures, MAX_DOUBLINGS));
        failures++;
    }

    // ---- partitions ----

    /** Begins to copy partitions once the target has told where. */
    private void startUncopied(long now) {
        Map<TopicPartition, SourcePositions.Start> starts = uncopied.takeDue(now);
        if (!starts.isEmpty()) {
            open.onAdded(starts);
            copier.add(starts);
            target.prepare(starts.keySet());
        }
    }

    /** Copies partitions from the beginning whose topic was deleted from the source and created again. */
    private void startAnew(Set<TopicPartition> replaced) {
        if (!replaced.isEmpty()) {
            copier.stopReading(replaced);
            finishOrRestart();
            copier.giveUp(replaced);
            uncopied.add(replaced); // what is committed there has another topic id
        }
    }

    /**
     * Copies partitions again whose copies the target has lost with their topics, even if it has kept their progress.
     */
    private void startAgain(Map<TopicPartition, Uuid> lost) {
        if (lost.isEmpty()) {
            return;
        }
        try {
            uncopied.onLost(losses.decide(lost, copier.positions(lost.keySet())));
            restart();
        } catch (RetriableException e) {
            LOG.debug("The source does not tell what it has of {}; asking again", lost.keySet(), e);
        }
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> copies) {
        consumers.group.pause(copies);
        copies.forEach(partition -> consumers.group.seek(partition, 0)); // or it would look for one itself
        uncopied.add(mirror.names().onSource(copies));
    }

    /** Ends the open transaction: the partitions belong to this member until this returns. */
    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> copies) {
        Set<TopicPartition> partitions = mirror.names().onSource(copies);
        if (isCopying()) {
            copier.stopReading(partitions);
            finishOrRestart();
        }
        giveUp(partitions);
    }

    /** Commits nothing, because the partitions already belong to another member. */
    @Override
    public void onPartitionsLost(Collection<TopicPartition> copies) {
        Set<TopicPartition> partitions = mirror.names().onSource(copies);
        if (isCopying()) {
            LOG.warn(
                    "Lost {} to another member of the group, because this one was away; its open transaction is"
                            + " aborted",
                    partitions);
            restart();
        }
        giveUp(partitions);
    }

    /** Also true between the call that stops the mirror and the last commit. */
    private boolean isCopying() {
        return !copier.partitions().isEmpty();
    }

    private void giveUp(Collection<TopicPartition> partitions) {
        copier.giveUp(partitions);
        target.forget(partitions);
        mirror.copiedOffsets().giveUp(partitions);
        uncopied.forget(partitions);
        open.forget(partitions);
    }

    /**
     * Returns the waiting partitions, each with where the open transaction begins: acknowledged records count once it
     * is committed.
     */
    private Map<TopicPartition, Long> waiting(long now) {
        Set<TopicPartition> waiting = new HashSet<>(copier.waiting().keySet());
        boolean isTargetAway = !transactions.isStarted() || progress.isWaiting();
        waiting.addAll(isTargetAway ? uncopied.ofSource() : uncopied.held(now));
        return open.begins(waiting);
    }

    // ---- the end ----

    private void commitLast() {
        copier.stopReading(copier.partitions());
        long patience = watch.isWaiting() ? END_OF_WAITING_NANOS : END_NANOS;
        try {
            if (!tryFinish(System.nanoTime() + patience, open::hangs)) {
                mirror.fail(MirrorException.failed("The target has not taken the last transaction in time; it is"
                        + " aborted, and its records will be mirrored again"));
            }
        } catch (CommitFailedException e) {
            LOG.info(
                    "The group has gone on meanwhile; another member mirrors the last records again: {}", e.toString());
        } catch (KafkaException e) {
            mirror.fail(MirrorException.failed(
                    "The last transaction is aborted, and its records will be mirrored again", e));
        }
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
