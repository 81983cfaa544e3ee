package dev.millrace.mirror.copy;

import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.control.ControlState;
import dev.millrace.mirror.control.TopicControls;
import dev.millrace.mirror.control.Turn;
import dev.millrace.mirror.fetch.FetchSink;
import dev.millrace.mirror.fetch.Fetcher;
import dev.millrace.mirror.kafka.SourceFetchers;
import dev.millrace.mirror.pass.BatchCounters;
import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import dev.millrace.mirror.progress.SourceChanges;
import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.refused.RecordWithdrawal.GivenUpException;
import dev.millrace.mirror.refused.RefusedRecordReport;
import dev.millrace.mirror.refused.RefusedRecordSearch;
import dev.millrace.mirror.refused.RefusedRecordSearches;
import dev.millrace.mirror.resume.ExactResume;
import dev.millrace.mirror.resume.PartitionStarts;
import dev.millrace.mirror.status.MirrorObserver;
import dev.millrace.mirror.status.MirrorTotals;
import dev.millrace.mirror.status.StallCause;
import dev.millrace.mirror.status.ThreadCounters;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.topics.TargetPartitions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies batches, without an object per record: one {@link Fetcher} reads all partitions, and {@code threads} workers
 * pass the batches to the shared producer, each those of its partitions. The member's consumer serves the group and
 * commits only; its partitions are paused.
 *
 * <p>The producer's {@code buffer.memory} limits the speed: what may not be sent yet waits in {@link WaitingBatches}
 * and keeps its part of the fetcher's bounded memory, so the fetcher asks for no more.
 *
 * <p><b>Threads:</b> the member's thread; any thread calls {@link #totals}. The fetch thread calls the {@link
 * CopyingSink}.
 * <p><b>Ordering:</b> see {@link PartitionCopy} for what happens when a partition is given up.
 */
public final class BatchCopier implements PartitionCopier {
    private static final Logger LOG = LoggerFactory.getLogger(BatchCopier.class);
    /** Applies while a worker works or something is in flight; short enough for counters and positions to commit. */
    private static final Duration BUSY_POLL = Duration.ofMillis(20);

    private static final Duration IDLE_POLL = Duration.ofMillis(100);
    /** A poll looks at each partition of the member for about half a microsecond, although all are paused. */
    private static final Duration POLL_PAUSE_PER_PARTITION = Duration.ofNanos(50_000);
    /** The group must hear of the member, and the member of a rebalance. */
    private static final Duration LONGEST_POLL_PAUSE = Duration.ofSeconds(1);

    private static final long CLOSE_TIMEOUT_MS = 2_000;

    private final RunningMirror mirror;
    private final Consumer<byte[], byte[]> consumer;
    private final TargetPartitions targets;
    private final InFlightMemory memory;
    private final MirrorObserver observer;
    private final TopicControls controls;
    private final CopyTarget target;
    private final boolean checksCrc;
    private final Fetcher fetcher;
    private final List<CopyWorker> workers = new ArrayList<>();
    private final ThreadCounters outcomes = new ThreadCounters(System.nanoTime());
    private final AssignedCopies copies = new AssignedCopies();
    /** Partitions with a gap after which the mirror is not to go on. */
    private final Set<TopicPartition> stopped = ConcurrentHashMap.newKeySet();

    private final PartitionStarts starts;
    private final Optional<PartitionStarts.Finder> resume;
    private final RefusedRecordSearches searches;
    private int nextWorker;
    /** The controls that the fetcher knows of. */
    private ControlState fetchedBy = ControlState.NONE;

    /**
     * @param consumerConfig of the fetcher
     * @param resume finds out where to begin; without it, that is where the group has committed
     * @param searchContext of the searches for refused records; empty if any refused record stops the mirror. If
     *     present, {@code resume} is present too
     */
    public BatchCopier(
            RunningMirror mirror,
            Map<String, Object> consumerConfig,
            Consumer<byte[], byte[]> consumer,
            SourceChanges changes,
            TargetPartitions targets,
            InFlightMemory memory,
            CopyTarget target,
            Optional<PartitionStarts.Finder> resume,
            Optional<RefusedRecordSearch.Context> searchContext) {
        this(
                mirror,
                consumer,
                changes,
                targets,
                memory,
                resume,
                searchContext,
                new ConsumerConfig(DerivedConfigs.fetcher(consumerConfig)).getBoolean(ConsumerConfig.CHECK_CRCS_CONFIG),
                target,
                sink -> SourceFetchers.create(DerivedConfigs.fetcher(consumerConfig), sink));
    }

    /** @param createFetcher of a sink; it is started here */
    public BatchCopier(
            RunningMirror mirror,
            Consumer<byte[], byte[]> consumer,
            SourceChanges changes,
            TargetPartitions targets,
            InFlightMemory memory,
            Optional<PartitionStarts.Finder> resume,
            Optional<RefusedRecordSearch.Context> searchContext,
            boolean checksCrc,
            CopyTarget target,
            Function<FetchSink, Fetcher> createFetcher) {
        this.mirror = mirror;
        this.consumer = consumer;
        this.targets = targets;
        this.memory = memory;
        this.observer = mirror.observer();
        this.controls = mirror.controls();
        this.resume = resume;
        this.starts = new PartitionStarts(
                consumer, resume, mirror.commits()::onSource, mirror.commits().copied()::isIdNew, this::begin);
        this.searches = new RefusedRecordSearches(consumer, searchContext, mirror.commits()::onSource, this::goOn);
        this.checksCrc = checksCrc;
        this.target = target;
        this.fetcher = createFetcher.apply(new CopyingSink(copies, mirror, changes, outcomes, this::stopAfterGap));
        for (int i = 0; i < mirror.config().threads(); i++) {
            workers.add(new CopyWorker("mirror-copy-" + i, mirror::fail, observer));
        }
        fetcher.start();
    }

    /** Called by the fetch thread. What was read before is still copied. */
    private void stopAfterGap(TopicPartition partition) {
        stopped.add(partition);
        fetcher.unassign(List.of(partition));
    }

    @Override
    public void add(Map<TopicPartition, SourcePositions.Start> partitions) {
        if (!mirror.isRunning()) {
            return; // assigned by a rebalance during the end; what is sent now would not be awaited or committed
        }
        starts.add(partitions);
        starts.advance(this::mayStart);
    }

    private void begin(TopicPartition partition, SourcePositions.Start start, Optional<ResumePoint> resumePoint) {
        PartitionCopy copy = new PartitionCopy(
                partition, start.offset(), resumePoint, checksCrc, searches.areFor(partition.topic()), target);
        copy.tell(mirror.copiedOffsets().begin(partition, start.topicId(), start.offset()));
        InFlightMemory.Share share = memory.new Share();
        Turn turn = controls.of(partition.topic()).newTurn();
        WaitingBatches waiting = new WaitingBatches(
                bytes -> copy.isStopped()
                        || (targets.isReady(partition)
                                && share.room(copy.outstandingBytes()) > 0
                                && copy.tryOpen()
                                && turn.tryPass(bytes)),
                () -> copies.onWork(partition));
        copies.add(new AssignedCopy(partition, start, copy, workerFor(partition), share, turn, waiting));
        fetcher.assign(partition, start.offset(), start.leaderEpoch(), start.topicId());
    }

    /** Returns whether no former copy of the partition can still change what the target has of it. */
    private boolean isSettled(TopicPartition partition) {
        return searches.isSettled(partition) && copies.isSettled(partition);
    }

    /** Until the topic is known to be the one with the copy, what the target has of the partition proves nothing. */
    private boolean mayStart(TopicPartition partition) {
        return isSettled(partition) && targets.isReady(partition);
    }

    /** Goes on after a search for refused records, which can write nothing any more. */
    private void goOn(TopicPartition partition, SourcePositions.Start from, ResumePoint resumePoint, boolean areKnown) {
        if (!mirror.isRunning() || searches.isEnding(partition)) {
            return;
        }
        if (areKnown) {
            begin(partition, from, Optional.of(resumePoint));
        } else {
            starts.add(Map.of(partition, from));
        }
    }

    /**
     * While a former copy of the partition may still send, both use the same worker, so that their records do not mix.
     */
    private CopyWorker workerFor(TopicPartition partition) {
        return copies.formerOf(partition)
                .map(AssignedCopy::worker)
                .orElseGet(() -> workers.get(nextWorker++ % workers.size()));
    }

    /** Expects no records, because the partitions are paused. */
    @Override
    public void forward(ConsumerRecords<byte[], byte[]> polled) {
        if (!polled.isEmpty()) {
            throw new IllegalStateException("The consumer returned records of " + polled.partitions()
                    + ", which are paused; they would be mirrored twice");
        }
    }

    @Override
    public Duration pollTimeout() {
        return isIdle() ? IDLE_POLL : BUSY_POLL;
    }

    @Override
    public Duration pollPause() {
        Duration wanted = POLL_PAUSE_PER_PARTITION.multipliedBy(copies.count());
        return wanted.compareTo(LONGEST_POLL_PAUSE) < 0 ? wanted : LONGEST_POLL_PAUSE;
    }

    private boolean isIdle() {
        return starts.isEmpty() && searches.partitions().isEmpty() && !copies.isBusy();
    }

    /** Compares states by identity, not by content: a pause that was taken back has left partitions unfetched. */
    @SuppressWarnings("ReferenceEquality")
    private void refreshIfChanged() {
        ControlState latest = controls.state();
        if (latest != fetchedBy) {
            fetchedBy = latest;
            fetcher.refresh();
        }
    }

    @Override
    public boolean advance() {
        boolean wasIdle = isIdle();
        refreshIfChanged();
        int visited = copies.visitActive(this::advance);
        outcomes.addAcked(copies.advanceGivenUp(outcomes));
        searches.advance(this::isSettled, outcomes, observer);
        if (mirror.isRunning()) {
            starts.advance(this::mayStart);
        }
        return !wasIdle || visited > 0 || !isIdle();
    }

    private void advance(AssignedCopy next) {
        long more = next.advance(outcomes.of(next.partition()));
        if (more > 0) {
            outcomes.addAcked(more);
            observer.onAcknowledged(next.partition(), next.copy().ackedOrNull().offset());
        }
        Throwable failure = next.copy().failureOrNull();
        if (failure != null && resume.isPresent() && ExactResume.isWrongSequence(failure)) {
            startAgain(next, failure);
        } else if (failure != null
                && searches.areFor(next.partition().topic())
                && RefusedRecordReport.isRefusal(failure)) {
            RefusedRecordSearch.Task task = next.copy().searchTask(next.start());
            retire(List.of(next.partition()));
            mirror.copiedOffsets().suspend(next.partition());
            searches.add(task);
        } else if (failure != null && !(failure instanceof GivenUpException) && !target.isTransactionOver(failure)) {
            mirror.fail(MirrorException.failed(
                    "Could not write " + next.partition().topic() + " partition "
                            + next.partition().partition() + " offset "
                            + next.copy().ackedPosition() + " or a later one",
                    failure));
        }
    }

    /**
     * The target expects another sequence: a former process had batches in flight, or another one copies the partition.
     */
    private void startAgain(AssignedCopy refused, Throwable failure) {
        LOG.info("{}: asking the target again what it has: {}", refused.partition(), MirrorException.reason(failure));
        SourcePositions.Start from = refused.nextStart();
        retire(List.of(refused.partition()));
        if (!searches.isEnding(refused.partition())) {
            starts.add(Map.of(refused.partition(), from));
        }
    }

    @Override
    public void measureLag(long nowNanos, Set<TopicPartition> notStarted) {
        boolean isMember = consumer.groupMetadata().generationId() >= 0;
        boolean complete = isMember
                && notStarted.isEmpty()
                && starts.isEmpty()
                && starts.stopped().isEmpty()
                && searches.partitions().isEmpty();
        long nowMs = System.currentTimeMillis();
        long records = 0;
        for (AssignedCopy next : copies.all()) {
            OptionalLong end = end(next.partition());
            records += Math.max(0, end.orElse(0) - next.copy().position());
            complete &= end.isPresent() && isEndCurrent(next.partition(), nowNanos);
            long left =
                    end.isPresent() ? Math.max(0, end.getAsLong() - next.copy().ackedPosition()) : -1;
            outcomes.of(next.partition()).onMeasured(left, next.copy().outstanding(), stallOrNull(next), nowMs);
        }
        starts.partitions().forEach(partition -> outcomes.of(partition).onStalled(StallCause.STARTING));
        starts.stopped().forEach(partition -> outcomes.of(partition).onStalled(StallCause.STOPPED));
        notStarted.forEach(partition -> outcomes.of(partition).onStalled(StallCause.STARTING));
        searches.partitions().forEach(partition -> outcomes.of(partition).onStalled(searches.stall(partition)));
        Set<TopicPartition> all = partitions();
        all.addAll(notStarted);
        outcomes.onAlive(isMember, all, nowNanos);
        outcomes.setUnpolled(records, complete, nowNanos);
    }

    private OptionalLong end(TopicPartition partition) {
        OptionalLong ofPaused = mirror.pausedEnds().of(partition);
        return ofPaused.isPresent() ? ofPaused : fetcher.end(partition);
    }

    private boolean isEndCurrent(TopicPartition partition, long nowNanos) {
        return fetcher.isEndCurrent(partition) || mirror.pausedEnds().isCurrent(partition, nowNanos);
    }

    private StallCause stallOrNull(AssignedCopy copy) {
        return stopped.contains(copy.partition()) ? StallCause.STOPPED : copy.stallOrNull(targets);
    }

    @Override
    public Set<TopicPartition> partitions() {
        Set<TopicPartition> partitions = copies.partitions();
        partitions.addAll(starts.partitions());
        partitions.addAll(searches.partitions());
        return partitions;
    }

    @Override
    public void stopReading(Collection<TopicPartition> partitions) {
        starts.remove(partitions);
        stopCopies(partitions);
        searches.stop(partitions);
    }

    private void stopCopies(Collection<TopicPartition> partitions) {
        copies.of(partitions).forEach(stopped -> stopped.copy().stop());
        fetcher.unassign(partitions);
    }

    @Override
    public boolean isSending(Collection<TopicPartition> partitions) {
        return searches.isSending(partitions)
                || copies.of(partitions).stream()
                        .anyMatch(stopped -> stopped.copy().isCopying());
    }

    @Override
    public List<TopicPartition> awaited(Collection<TopicPartition> partitions) {
        Set<TopicPartition> awaited = searches.awaited(partitions);
        copies.of(partitions).stream()
                .filter(copy -> copy.copy().isAwaited())
                .map(AssignedCopy::partition)
                .forEach(awaited::add);
        return partitions.stream().filter(awaited::contains).toList();
    }

    @Override
    public Map<TopicPartition, Long> waiting() {
        Map<TopicPartition, Long> waiting = starts.waitingForTarget();
        waiting.putAll(searches.waiting());
        for (AssignedCopy next : copies.all()) {
            if (next.copy().outstanding() > 0 || next.isWaitingForTarget(targets)) {
                waiting.put(next.partition(), next.copy().ackedPosition());
            }
        }
        return waiting;
    }

    @Override
    public Map<TopicPartition, OffsetAndMetadata> positions(Collection<TopicPartition> partitions) {
        Map<TopicPartition, OffsetAndMetadata> positions = searches.positions(partitions);
        for (AssignedCopy next : copies.of(partitions)) {
            next.copy()
                    .takeAcked((acked, resumePoint) -> positions.put(
                            next.partition(),
                            mirror.commits()
                                    .onSource(
                                            next.partition(),
                                            acked,
                                            next.start().topicId(),
                                            resumePoint)));
        }
        return positions;
    }

    /** Returns the positions after all that was sent, as they are committed to a group of the target. */
    public Map<TopicPartition, OffsetAndMetadata> sentPositions() {
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        for (AssignedCopy next : copies.all()) {
            OffsetAndMetadata sent = next.copy().sentOrNull();
            if (sent != null) {
                positions.put(
                        next.partition(),
                        mirror.commits()
                                .onTarget(next.partition(), sent, next.start().topicId()));
            }
        }
        return positions;
    }

    /** Limits what all partitions together have in flight. */
    public void limitInFlight(long bytes) {
        memory.limit(bytes);
    }

    @Override
    public void giveUp(Collection<TopicPartition> partitions) {
        starts.remove(partitions);
        searches.remove(partitions);
        retire(partitions);
        advance();
    }

    /** Stops sending from these partitions' copies, and only waits for what they have sent. */
    private void retire(Collection<TopicPartition> partitions) {
        stopCopies(partitions);
        for (TopicPartition partition : partitions) {
            stopped.remove(partition);
            copies.giveUp(partition);
        }
    }

    @Override
    public void clear() {
        copies.clear(outcomes);
    }

    @Override
    public MirrorTotals totals() {
        long now = System.nanoTime();
        MirrorTotals done = outcomes.totals(now); // first: read last, it could exceed what was read as sent
        for (CopyWorker worker : workers) {
            MirrorTotals sent = worker.records().totals(now);
            done = done.plus(new MirrorTotals(sent.sent(), 0, 0, sent.bytes(), 0, true));
        }
        return done;
    }

    @Override
    public ThreadCounters counters() {
        return outcomes;
    }

    /** Returns how many batches each worker passed, opened for a reason, and skipped. */
    private List<BatchCounters> batches() {
        return workers.stream().map(CopyWorker::batches).toList();
    }

    @Override
    public void close() {
        resume.ifPresent(PartitionStarts.Finder::close);
        searches.close();
        fetcher.close(Duration.ofMillis(CLOSE_TIMEOUT_MS));
        workers.forEach(CopyWorker::interrupt);
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_TIMEOUT_MS); // for all of them together
        workers.forEach(worker -> worker.awaitEnd(deadline));
        LOG.info(BatchCounters.describe(batches()));
    }
}
