package dev.millrace.mirror.resume;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.config.ResumeMode;
import dev.millrace.mirror.config.TargetLossPolicy;
import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeProducersResult;
import org.apache.kafka.clients.admin.DescribeProducersResult.PartitionProducerState;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.UnknownProducerIdException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out, for a partition that is about to be copied, which records after its committed offset the target has
 * already, and with which producer id, epoch and sequence the copy goes on. A record's producer id, epoch and sequence
 * depend only on how many records after the committed offset it is. So each batch is a compare-and-set at the target,
 * which takes a sequence only if it follows the last one it has: each record that a former process still had in flight,
 * or that another live process writes, is there at most once.
 *
 * <p>If it cannot be known which records are there, it warns, and takes a new epoch: records since the commit are
 * written again, and the former process is fenced. A new epoch must be committed before the first record is sent.
 *
 * <p><b>Threads:</b> any thread calls {@link #find}. Threads of its own ask, compare and call back; so a partition
 * without a leader, or one that takes long to compare, does not delay the start of others for long.
 * <p><b>Ordering:</b> a search is handed from thread to thread by the executor; what they share is concurrent.
 */
public final class ExactResume implements PartitionStarts.Finder {
    private static final Logger LOG = LoggerFactory.getLogger(ExactResume.class);
    /** Each comparison takes some round trips, and has two consumers of its own. */
    private static final int THREADS = 16;

    /** While records differ, those still in flight to the target, or not replicated yet, may get there. */
    private static final long PATIENCE_NANOS = Duration.ofSeconds(5).toNanos();

    /** Then the partitions of an assignment have begun, and the next ones may take hours to come. */
    private static final long COMPARISONS_IDLE_MS = 10_000;

    private static final long SHORT_PAUSE_MS = 50;
    private static final long PAUSE_MS = 500;

    private final Clients clients;
    private final Consumer<Throwable> onFailure;
    private final ScheduledExecutorService threads;
    private final TargetEnds ends;
    private final RecordComparisons comparisons;
    private final CompactedTopics compacted;
    /** Partitions whose beginning the source has been asked for and has not answered. */
    private final Set<TopicPartition> waitingForSource = ConcurrentHashMap.newKeySet();

    private final NewProducerEpochs own;
    private final ResumeMode mode;
    private final LostTails lostTails;

    /**
     * The clusters that the search asks.
     *
     * @param onMissing told of a partition that the target perhaps lacks
     * @param comparison opens one
     */
    public record Clients(
            Admin source,
            CopiesOnTarget copies,
            Consumer<TopicPartition> onMissing,
            Supplier<RecordComparison> comparison) {}

    /**
     * Where a copy begins.
     *
     * @param from the source position
     * @param resumePoint producer id, epoch and sequence of the record there
     * @param isNew the epoch is new and must be committed first
     */
    public record Start(OffsetAndMetadata from, ResumePoint resumePoint, boolean isNew) {}

    /** Takes what was found, in any thread. */
    public interface Outcome extends Consumer<Start> {
        /** The partition is not to be copied, because the target has lost records. */
        default void onStopped() {}
    }

    /**
     * What is to be found out.
     *
     * @param from the committed source position, or the one where a new group begins
     * @param committed producer id, epoch and sequence committed with that position
     * @param isWhereTheLogBegins as {@link SourcePositions.Start} has it
     * @param differsSinceNanos when the target's records were first found to differ, or to be lost
     */
    public record Search(
            TopicPartition partition,
            OffsetAndMetadata from,
            Optional<ResumePoint> committed,
            boolean isWhereTheLogBegins,
            Outcome onFound,
            OptionalLong differsSinceNanos) {
        Search(TopicPartition partition, SourcePositions.Start from, Outcome onFound) {
            this(
                    partition,
                    new OffsetAndMetadata(from.offset(), from.leaderEpoch(), ""),
                    from.resumePoint().filter(resumePoint -> resumePoint.sourceOffset() == from.offset()),
                    from.isWhereTheLogBegins(),
                    onFound,
                    OptionalLong.empty());
        }

        Search with(Optional<ResumePoint> resumePoint) {
            return new Search(partition, from, resumePoint, isWhereTheLogBegins, onFound, differsSinceNanos);
        }

        Search movedTo(OffsetAndMetadata position) {
            return new Search(partition, position, committed, false, onFound, differsSinceNanos);
        }

        private Search differing() {
            OptionalLong since = differsSinceNanos.isPresent() ? differsSinceNanos : OptionalLong.of(System.nanoTime());
            return new Search(partition, from, committed, isWhereTheLogBegins, onFound, since);
        }
    }

    /**
     * @param mode with {@link ResumeMode#AT_LEAST_ONCE} it asks nothing, and each partition gets a new epoch
     * @param onTargetLost what to do when the target has lost the end of a log
     */
    public ExactResume(
            ResumeMode mode,
            TargetLossPolicy onTargetLost,
            Clients clients,
            NewProducerEpochs own,
            Consumer<Throwable> onFailure) {
        this.mode = mode;
        this.clients = clients;
        this.own = own;
        this.onFailure = onFailure;
        this.ends = new TargetEnds(clients.copies(), this::execute);
        this.comparisons = new RecordComparisons(clients.comparison(), this::closeComparisonsLater);
        this.compacted = new CompactedTopics(clients.source());
        this.lostTails = new LostTails(onTargetLost, clients.source());
        this.threads = Executors.newScheduledThreadPool(THREADS, work -> new Thread(work, "mirror-resume"));
    }

    /** Returns whether a batch failed because the target expects another sequence. */
    public static boolean isWrongSequence(Throwable failure) {
        return failure instanceof OutOfOrderSequenceException
                || failure instanceof UnknownProducerIdException
                || failure instanceof InvalidProducerEpochException;
    }

    @Override
    public void find(List<Search> searches) {
        Map<TopicPartition, Search> known = new HashMap<>();
        Map<TopicPartition, Search> first = new HashMap<>();
        for (Search search : searches) {
            if (mode != ResumeMode.AT_LEAST_ONCE && search.committed().isPresent()) {
                known.put(search.partition(), search);
            } else if (search.isWhereTheLogBegins()) {
                first.put(search.partition(), search);
            } else {
                startWithNewEpoch(search.with(Optional.empty()), -1);
            }
        }
        if (!known.isEmpty()) {
            compacted.askAbout(known.keySet());
            TopicNames names = clients.copies().names();
            DescribeProducersResult answer =
                    clients.copies().target().describeProducers(names.onTarget(known.keySet()));
            known.forEach((partition, search) -> answer.partitionResult(names.onTarget(partition))
                    .whenComplete((state, failure) ->
                            execute(() -> onAnswer(search, failure, () -> decide(search, state)), 0)));
        }
        if (!first.isEmpty()) {
            startAtFirstRecord(first);
        }
    }

    /**
     * Starts at the first record, so that no earlier offset is committed, which would look like a gap at the next
     * start.
     */
    private void startAtFirstRecord(Map<TopicPartition, Search> searches) {
        ListOffsetsResult answer =
                clients.source().listOffsets(Clusters.specs(searches.keySet(), OffsetSpec.earliest()));
        waitingForSource.addAll(searches.keySet());
        searches.forEach((partition, search) -> answer.partitionResult(partition)
                .whenComplete((first, failure) -> execute(
                        () -> {
                            waitingForSource.remove(partition);
                            startWithNewEpoch(
                                    first == null
                                                    || first.offset()
                                                            <= search.from().offset()
                                            ? search
                                            : search.movedTo(new OffsetAndMetadata(first.offset())),
                                    -1);
                        },
                        0)));
    }

    private void findLater(Search search, Throwable failure) {
        LOG.info("{} is not copied yet; asking again: {}", search.partition(), MirrorException.reason(failure));
        findAgain(search, PAUSE_MS);
    }

    private void findAgain(Search search, long afterMs) {
        execute(() -> find(List.of(search)), afterMs);
    }

    private void closeComparisonsLater() {
        execute(comparisons::closeIfAllIdle, COMPARISONS_IDLE_MS);
    }

    private void execute(Runnable step, long afterMs) {
        try {
            threads.schedule(() -> run(step), afterMs, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            LOG.debug("Closed; nobody waits for the answer any more");
        }
    }

    private void run(Runnable step) {
        try {
            step.run();
        } catch (Throwable failure) {
            if (!threads.isShutdown()) { // otherwise it is the interrupt
                onFailure.accept(failure);
            }
        }
    }

    /** Does what follows from the answer of a cluster, unless it has failed. */
    private void onAnswer(Search search, Throwable failure, Runnable next) {
        try {
            if (failure != null) {
                throw failure instanceof KafkaException known ? known : new KafkaException(failure);
            }
            next.run();
        } catch (UnsupportedVersionException e) {
            startAtLeastOnce(search, -1, "the target is too old to tell what it has (DescribeProducers, Kafka 2.8)");
        } catch (AuthorizationException e) {
            startAtLeastOnce(
                    search, -1, "the mirror may not read the topic on both clusters: " + MirrorException.reason(e));
        } catch (RetriableException e) {
            clients.onMissing().accept(search.partition());
            findLater(search, e);
        }
    }

    /**
     * Asks where the target ends, too: old timestamps suffice for a target to forget a producer, and what it remembers
     * need not show that it has lost the end of its log.
     */
    private void decide(Search search, PartitionProducerState state) {
        ResumePoint committed = search.committed().orElseThrow();
        Optional<ProducerState> known = state.activeProducers().stream()
                .filter(producer -> producer.producerId() == committed.producerId())
                .findFirst();
        ends.ask(
                search.partition(),
                (end, failure) -> onAnswer(search, failure, () -> decide(search, committed, known, end.offset())));
    }

    private void decide(Search search, ResumePoint committed, Optional<ProducerState> known, long end) {
        int epoch = known.map(ProducerState::producerEpoch).orElse(-1);
        if (LostTails.isLost(committed, end)) {
            onLostTail(search, committed, epoch, end);
        } else {
            follow(
                    search,
                    known.map(producer -> ResumeDecision.of(committed, producer))
                            .orElseGet(() -> ResumeDecision.ofForgotten(committed, end)),
                    epoch);
        }
    }

    /** A new leader may not know at once how far its log is replicated. */
    private void onLostTail(Search search, ResumePoint committed, int epoch, long end) {
        if (!isPatienceOver(search)) {
            findAgain(search.differing(), PAUSE_MS);
            return;
        }
        long from = search.from().offset();
        OptionalLong lastCopied = comparisons.ask(comparison -> comparison.endOfCopy(search.partition()));
        long firstMissing = lostTails.firstMissing(search.partition(), committed, end, lastCopied);
        lostTails.tell(search.partition(), committed, end, firstMissing);
        switch (lostTails.policy()) {
            case STOP_PARTITION -> search.onFound().onStopped();
            case GO_ON -> startWithNewEpoch(search, epoch);
            case COPY_AGAIN ->
                startWithNewEpoch(search.movedTo(new OffsetAndMetadata(Math.min(firstMissing, from))), epoch);
        }
    }

    private static boolean isPatienceOver(Search search) {
        return search.differsSinceNanos().isPresent()
                && System.nanoTime() - search.differsSinceNanos().getAsLong() >= PATIENCE_NANOS;
    }

    private void follow(Search search, ResumeDecision decision, int epoch) {
        if (!decision.isKnown()) {
            startAtLeastOnce(search, epoch, decision.reason());
        } else if (decision.present() == 0) {
            start(search, search.from(), search.committed().orElseThrow(), epoch);
        } else {
            compare(search, search.committed().orElseThrow(), epoch, decision.present());
        }
    }

    @Override
    public boolean isWaitingForSource(TopicPartition partition) {
        return waitingForSource.contains(partition);
    }

    /**
     * Records since the commit that the target has with this producer id must be the last of its records, and the next
     * ones of the source.
     */
    private void compare(Search search, ResumePoint committed, int epoch, long present) {
        TopicPartition partition = search.partition();
        long end =
                clients.copies().offsets(Set.of(partition), OffsetSpec.latest()).get(partition);
        Optional<OffsetAndMetadata> after = end < present
                ? Optional.empty()
                : comparisons.ask(comparison ->
                        comparison.positionAfter(partition, search.from().offset(), end - present, present));
        if (after.isPresent()) {
            LOG.info(
                    "{}: the target has {} after the committed offset {}, and they are left out",
                    partition,
                    Words.count(present, "record"),
                    search.from().offset());
            start(search, after.get(), committed.after(present, after.get().offset(), end), epoch);
        } else {
            onDifference(search.differing(), epoch, present);
        }
    }

    private void onDifference(Search search, int epoch, long present) {
        if (!isPatienceOver(search)) {
            findAgain(search, PAUSE_MS);
        } else {
            startAtLeastOnce(
                    search,
                    epoch,
                    "the last " + Words.count(present, "record") + " of the target are not those of the source from"
                            + " there on: another program writes to the topic, or records were deleted; up to "
                            + present + " may be written twice");
        }
    }

    /**
     * In a compacted topic the next process may find other records after the offset, so each process gets its own
     * epoch.
     */
    private void start(Search search, OffsetAndMetadata from, ResumePoint resumePoint, int epoch) {
        if (compacted.contains(search.partition().topic())) {
            startWithNewEpoch(search.movedTo(from).with(Optional.of(resumePoint)), epoch);
        } else {
            own.note(search.partition(), resumePoint);
            search.onFound().accept(new Start(from, resumePoint, false));
        }
    }

    private void startAtLeastOnce(Search search, int epoch, String reason) {
        LOG.warn(
                "Topic {} partition {}: records after the committed offset {} may be written twice, those that a former"
                        + " process wrote and did not commit: {}",
                search.partition().topic(),
                search.partition().partition(),
                search.from().offset(),
                reason);
        startWithNewEpoch(search, epoch);
    }

    /**
     * Commits a new epoch together with the target's end offset: whatever is there after that, this process has
     * written.
     *
     * @param epochAtTarget of the committed producer id, or -1
     */
    private void startWithNewEpoch(Search search, int epochAtTarget) {
        if (mode == ResumeMode.AT_LEAST_ONCE) {
            startWithNewEpoch(search, epochAtTarget, ResumePoint.UNKNOWN);
            return;
        }
        ends.ask(search.partition(), (end, failure) -> {
            if (failure instanceof RetriableException) {
                clients.onMissing().accept(search.partition());
                execute(() -> startWithNewEpoch(search, epochAtTarget), PAUSE_MS);
            } else {
                startWithNewEpoch(search, epochAtTarget, failure == null ? end.offset() : ResumePoint.UNKNOWN);
            }
        });
    }

    private void startWithNewEpoch(Search search, int epochAtTarget, long targetEnd) {
        long offset = search.from().offset();
        Optional<ResumePoint> resumePoint = search.committed()
                .filter(committed -> Math.max(committed.epoch(), epochAtTarget) < Short.MAX_VALUE)
                .map(committed -> new ResumePoint(
                        committed.producerId(),
                        (short) (Math.max(committed.epoch(), epochAtTarget) + 1),
                        0,
                        offset,
                        targetEnd))
                .or(() -> own.next(search.partition(), offset, targetEnd));
        if (resumePoint.isEmpty()) {
            execute(() -> startWithNewEpoch(search, epochAtTarget, targetEnd), SHORT_PAUSE_MS);
            return;
        }
        own.note(search.partition(), resumePoint.get());
        search.onFound().accept(new Start(search.from(), resumePoint.get(), true));
    }

    @Override
    public void close() {
        threads.shutdownNow();
        try {
            if (threads.awaitTermination(1, TimeUnit.SECONDS)) {
                comparisons.close();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
