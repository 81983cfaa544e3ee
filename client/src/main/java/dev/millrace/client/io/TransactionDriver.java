package dev.millrace.client.io;

import dev.millrace.client.io.TransactionErrors.Request;
import dev.millrace.client.io.TransactionErrors.Verdict;
import dev.millrace.client.io.TransactionFacts.Begun;
import dev.millrace.client.io.TransactionFacts.Failed;
import dev.millrace.client.io.TransactionFacts.NextEpoch;
import dev.millrace.client.io.TransactionState.View;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.ConcurrentTransactionsException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TransactionAbortedException;
import org.apache.kafka.common.errors.UnknownProducerIdException;
import org.apache.kafka.common.errors.UnsupportedVersionException;

/**
 * Carries out the application's transactional calls: one request at a time to a coordinator, repeated until it has a
 * final answer. A transaction is ended only when each of its records has an outcome and nothing is in flight.
 *
 * <p><b>Threads:</b> the first I/O thread.
 */
final class TransactionDriver implements IoTask {
    /** How long to wait while the coordinator still ends the previous transaction, which is short. */
    private static final long CONCURRENT_WAIT_MS = 20;

    private final TransactionState state;
    private final TransactionFacts facts;
    private final TransactionPartitions partitions;
    private final List<IoThreadTransactionShare> shares;
    private final ProducerIds ids;
    private final IoContext context;
    private final TransactionLink link;
    private final Backoff backoff;
    private final Coordinator coordinator;
    private Coordinator groupCoordinator;

    /** Partitions to add to the transaction that are not in a request yet. */
    private final Set<PartitionState> toAdd = new LinkedHashSet<>();

    /** Partitions in an unanswered request, which may have been added. */
    private final Set<PartitionState> adding = new LinkedHashSet<>();

    private boolean asking;

    /** By init: the transaction has ended, but a new epoch is needed before the next. */
    private NextEpoch nextEpoch = NextEpoch.KEEP;

    private boolean nextIsExplicit;
    private int failures;
    private long notBeforeMs;

    TransactionDriver(
            TransactionState state,
            TransactionPartitions partitions,
            List<IoThreadTransactionShare> shares,
            ProducerIds ids,
            IoContext context,
            Backoff backoff) {
        this.state = state;
        this.facts = state.facts();
        this.partitions = partitions;
        this.shares = shares;
        this.ids = ids;
        this.context = context;
        this.link = context.link().transactions().orElseThrow();
        this.backoff = backoff;
        this.coordinator = new Coordinator(context, link, null, backoff, this::onCoordinatorRefused);
    }

    @Override
    public long runIfDue(long nowMs) {
        View view = collectWanted();
        if (state.offsets().peek() != null) {
            facts.noteContent();
        }
        failOffsetsOf(view);
        if (state.isClosed() && view.phase().isOngoing() && areSharesDone(view)) {
            state.abortOnClose();
            view = state.view();
        }
        if (asking || view.phase() == TransactionPhase.FATAL_ERROR) {
            return Long.MAX_VALUE;
        }
        return nowMs < notBeforeMs ? notBeforeMs - nowMs : askNext(view, nowMs);
    }

    private boolean areSharesDone(View view) {
        return shares.stream().allMatch(share -> share.isDone(view.number()));
    }

    /** Drain {@code wanted} before reading the view, or new partitions look stale. */
    private View collectWanted() {
        List<PartitionState> wanted = new ArrayList<>();
        for (PartitionState p = partitions.pollWanted(); p != null; p = partitions.pollWanted()) {
            wanted.add(p);
        }
        View view = state.view();
        for (PartitionState p : wanted) {
            if (p.membership.isWantedIn(view.number())) {
                toAdd.add(p);
            }
        }
        if (view.phase() != TransactionPhase.IN_TRANSACTION && view.phase() != TransactionPhase.COMMITTING) {
            toAdd.clear();
        }
        return view;
    }

    private void failOffsetsOf(View view) {
        boolean ending =
                view.phase() == TransactionPhase.ABORTING || view.phase().isError();
        for (OffsetsCall head = state.offsets().peek();
                ending && head != null;
                head = state.offsets().peek()) {
            if (head.added == Begun.PERHAPS && view.phase() != TransactionPhase.FATAL_ERROR) {
                return; // before the end, it must be clear whether the coordinator knows the transaction
            }
            state.offsets().poll();
            head.call.fail(view.error() == null ? new TransactionAbortedException() : view.error());
        }
    }

    // ---- what to ask next ----

    private long askNext(View view, long nowMs) {
        if (nextEpoch == NextEpoch.BY_INIT) {
            return ask(coordinator, node -> startNewEpoch(node, endOf(view), nowMs), nowMs);
        }
        if (view.phase() == TransactionPhase.INITIALIZING) {
            TransactionLink.Handler<ProducerId> handler = onAnswer(Request.INIT, this::onId);
            return ask(coordinator, node -> link.initProducerId(node, ProducerId.UNKNOWN, handler, nowMs), nowMs);
        }
        if (!view.phase().isOngoing()) {
            return Long.MAX_VALUE;
        }
        if (state.offsets().peek() != null) {
            return askOffsets(state.offsets().peek(), nowMs);
        }
        if (!adding.isEmpty() || !toAdd.isEmpty()) {
            return ask(coordinator, node -> addPartitions(node, view.number(), nowMs), nowMs);
        }
        return view.phase().isCompleting() && areSharesDone(view) ? askEnd(nowMs) : Long.MAX_VALUE;
    }

    private long ask(Coordinator whom, Consumer<Node> request, long nowMs) {
        long waitMs = whom.connect(nowMs);
        if (waitMs > 0) {
            return waitMs;
        }
        asking = true;
        request.accept(whom.node());
        return Long.MAX_VALUE;
    }

    private long askOffsets(OffsetsCall head, long nowMs) {
        String group = head.group.groupId();
        if (facts.isExplicit() && head.added != Begun.YES) {
            return ask(coordinator, node -> addOffsets(node, head, nowMs), nowMs);
        }
        if (groupCoordinator == null || !groupCoordinator.isOfGroup(group)) {
            groupCoordinator = new Coordinator(context, link, group, backoff, this::onGroupRefused);
        }
        return ask(groupCoordinator, node -> commitOffsets(node, head, nowMs), nowMs);
    }

    private void addOffsets(Node node, OffsetsCall head, long nowMs) {
        head.added = Begun.PERHAPS;
        link.addOffsets(
                node,
                ids.current(),
                head.group.groupId(),
                onAnswer(
                        nothing -> {
                            head.added = Begun.YES;
                            facts.noteAdded();
                        },
                        error -> {
                            if (TransactionErrors.isRepeated(Request.ADD_OFFSETS, error)) {
                                facts.notePerhapsAdded();
                            } else {
                                head.added = Begun.NO;
                            }
                            onError(Request.ADD_OFFSETS, error);
                        }),
                nowMs);
    }

    private void commitOffsets(Node node, OffsetsCall head, long nowMs) {
        facts.noteContent(); // they may have been added after this round looked for them
        link.commitOffsets(
                node,
                ids.current(),
                head.left,
                head.group,
                onAnswer(Request.COMMIT_OFFSETS, refused -> onOffsets(head, refused)),
                nowMs);
    }

    private void addPartitions(Node node, long transaction, long nowMs) {
        adding.addAll(toAdd);
        toAdd.clear();
        List<TopicPartition> names = new ArrayList<>();
        adding.forEach(p -> names.add(p.queue().partition()));
        link.addPartitions(
                node,
                ids.current(),
                names,
                onAnswer(refused -> onPartitions(transaction, refused), error -> {
                    facts.notePerhapsAdded();
                    onError(Request.ADD_PARTITIONS, error);
                }),
                nowMs);
    }

    private long askEnd(long nowMs) {
        View view = state.view(); // read again: a share's awaited record may have failed
        if (!view.phase().isCompleting()) {
            return 0;
        }
        Request request = endOf(view);
        if (!facts.known().isEndTold()) {
            afterEnd();
            return 0;
        }
        TransactionLink.Handler<ProducerId> handler = onAnswer(
                id -> {
                    ids.replace(id);
                    afterEnd();
                },
                error -> {
                    if (facts.isBegun(Begun.PERHAPS) && error instanceof InvalidTxnStateException) {
                        afterEnd(); // so nothing was added
                    } else {
                        onError(request, error);
                    }
                });
        return ask(
                coordinator, node -> link.end(node, ids.current(), request == Request.COMMIT, handler, nowMs), nowMs);
    }

    private void startNewEpoch(Node node, Request request, long nowMs) {
        TransactionLink.Handler<ProducerId> handler = onAnswer(this::onNewEpoch, error -> {
            boolean isTooOld = error instanceof UnsupportedVersionException;
            if (isTooOld && facts.known().nextEpochWithoutInit() == NextEpoch.REWIND) {
                onNewEpoch(ids.current().rewound());
            } else {
                onError(request, error);
            }
        });
        link.initProducerId(node, ids.current(), handler, nowMs);
    }

    private void onNewEpoch(ProducerId id) {
        ids.replace(id);
        completeEnd();
    }

    private static Request endOf(View view) {
        return view.phase() == TransactionPhase.COMMITTING ? Request.COMMIT : Request.ABORT;
    }

    // ---- what the answers mean ----

    private <T> TransactionLink.Handler<T> onAnswer(Request request, Consumer<T> onSuccess) {
        return onAnswer(onSuccess, error -> onError(request, error));
    }

    private <T> TransactionLink.Handler<T> onAnswer(Consumer<T> onSuccess, Consumer<KafkaException> onFailure) {
        return (answer, error) -> {
            asking = false;
            if (error == null) {
                failures = 0;
                onSuccess.accept(answer);
            } else {
                onFailure.accept(error);
            }
        };
    }

    private void onId(ProducerId id) {
        ids.replace(id);
        facts.reset(link.chooseProtocol());
        state.onInitialized();
    }

    private void afterEnd() {
        nextIsExplicit = link.chooseProtocol();
        nextEpoch = facts.known().nextEpoch(nextIsExplicit);
        if (nextEpoch != NextEpoch.BY_INIT) {
            completeEnd();
        }
    }

    private void completeEnd() {
        nextEpoch = NextEpoch.KEEP;
        facts.reset(nextIsExplicit);
        state.onEnded();
    }

    private void onPartitions(long transaction, Map<TopicPartition, ApiException> refused) {
        if (refused.isEmpty()) {
            facts.noteAdded();
            for (PartitionState p : adding) {
                p.membership.markAdded(transaction);
                p.queue().handOver();
            }
            adding.clear();
            return;
        }
        if (!TransactionErrors.isNothingAdded(refused.values())) {
            facts.notePerhapsAdded();
        } else if (!facts.isBegun(Begun.PERHAPS) || state.view().phase() == TransactionPhase.ABORTING) {
            addLater(); // so that the end, which will show it, need not wait for a topic that may have been deleted
        }
        Set<String> forbidden = new HashSet<>();
        refused.forEach((partition, error) -> {
            if (error instanceof TopicAuthorizationException) {
                forbidden.add(partition.topic());
            }
        });
        onError(
                Request.ADD_PARTITIONS,
                forbidden.isEmpty()
                        ? TransactionErrors.decisiveForPartitions(refused.values())
                        : new TopicAuthorizationException(forbidden));
    }

    private void onOffsets(OffsetsCall head, Map<TopicPartition, ApiException> refused) {
        head.left.keySet().retainAll(refused.keySet());
        if (refused.isEmpty()) {
            state.offsets().remove(head); // unless an error has removed it
            head.call.complete();
        } else {
            onError(Request.COMMIT_OFFSETS, TransactionErrors.worst(Request.COMMIT_OFFSETS, refused.values()));
        }
    }

    private void addLater() {
        toAdd.addAll(adding);
        adding.clear();
    }

    private void onError(Request request, KafkaException error) {
        Verdict verdict = TransactionErrors.of(request, error);
        switch (verdict.remedy()) {
            case RETRY -> backOff(error);
            case FIND_COORDINATOR -> {
                (request == Request.COMMIT_OFFSETS ? groupCoordinator : coordinator).forget();
                backOff(error);
            }
            default -> {
                if (request == Request.ADD_PARTITIONS) {
                    adding.clear(); // finally refused: the coordinator has not added them, unless it did before
                }
                carryOut(verdict);
            }
        }
    }

    private void carryOut(Verdict verdict) {
        switch (verdict.remedy()) {
            case REFUSE_CALL -> state.onInitRefused(verdict.error());
            case ABORT -> {
                // Only after this error: while the transaction is open, a request for an epoch would fence this
                // producer itself.
                if (verdict.error() instanceof UnknownProducerIdException) {
                    facts.noteFailed(Failed.NUMBERED);
                }
                state.failAbortably(verdict.error());
            }
            default -> state.failFatally(verdict.error());
        }
    }

    private void backOff(KafkaException error) {
        failures++;
        boolean first = error instanceof ConcurrentTransactionsException && !facts.isBegun(Begun.YES);
        notBeforeMs = context.clock().nowMs() + (first ? CONCURRENT_WAIT_MS : backoff.delayMs(failures));
    }

    private void onCoordinatorRefused(Coordinator refused, KafkaException error) {
        boolean aborting = state.view().phase() == TransactionPhase.ABORTING;
        carryOut(TransactionErrors.of(aborting ? Request.ABORT : Request.FIND_COORDINATOR, error));
    }

    /** Ignored unless a call waits for it, because the answer may arrive after the end of its transaction. */
    private void onGroupRefused(Coordinator refused, KafkaException error) {
        TransactionPhase phase = state.view().phase();
        OffsetsCall head = state.offsets().peek();
        boolean isAwaited = refused == groupCoordinator
                && head != null
                && refused.isOfGroup(head.group.groupId())
                && (phase == TransactionPhase.IN_TRANSACTION || phase == TransactionPhase.COMMITTING);
        if (isAwaited) {
            carryOut(TransactionErrors.of(Request.FIND_COORDINATOR, error));
        }
    }

    /**
     * If a coordinator, or the broker that should have named it, refused our login, calls that wait for it would wait
     * forever. Any other broker has merely lost its connection.
     */
    void onDisconnect(AuthenticationException refusal, int node) {
        if (refusal == null) {
            return;
        }
        TransactionPhase phase = state.view().phase();
        boolean areOffsetsSent = state.offsets().peek() != null;
        boolean isAwaited = phase == TransactionPhase.INITIALIZING || phase.isCompleting() || areOffsetsSent;
        boolean isOfGroup = areOffsetsSent && groupCoordinator != null && groupCoordinator.isReachedThrough(node);
        if (isAwaited && (isOfGroup || coordinator.isReachedThrough(node))) {
            state.failFatally(refusal);
        }
    }

    /** Fails all calls, because the connections are closed. */
    void end(RuntimeException reason) {
        state.failFatally(reason);
        failOffsetsOf(state.view());
    }
}
