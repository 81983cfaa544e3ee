package dev.millrace.client.io;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.accumulator.PartitionQueue;
import dev.millrace.client.accumulator.ReadyQueue;
import dev.millrace.client.io.BrokerLink.ProduceAnswer;
import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.StalledBrokers;
import dev.millrace.client.metadata.TopicImage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.InvalidMetadataException;
import org.apache.kafka.common.errors.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Visits the partitions for which something may have changed, builds the requests from the lanes of
 * {@link PartitionPlaces}, and takes their answers. Idle partitions cost nothing: only those that were offered or
 * answered, or whose deadline has come, are visited (KAFKA-20917).
 *
 * <p><b>Threads:</b> its I/O thread, which also runs the callbacks.
 */
final class Drainer {
    private static final Logger log = LoggerFactory.getLogger(Drainer.class);

    private final Accumulator accumulator;
    private final ReadyQueue ready;
    private final ClusterImages images;
    private final MetadataRefresh metadata;
    private final ProducerIds ids;
    private final BrokerLink link;
    private final StalledBrokers stalled;
    private final SenderSettings settings;
    private final SenderMetrics metrics;
    private final AnswerHandler answerHandler;
    private final BrokerMemory memory;
    private final ProducerQuestions questions;
    private final TransactionShare transactions;
    private final MonotonicClock clock;
    private final NextBatch next;
    private final PartitionPlaces places;

    private final List<PartitionState> partitions = new ArrayList<>();

    /** Partitions to visit, each once. The method that fills it also empties it. */
    private final ArrayDeque<PartitionState> changed = new ArrayDeque<>();

    /**
     * The earliest time at which a batch opened after the last request can be due. While the request is in flight, this
     * thread does not sleep past this time: the answer most likely arrives first, and a thread that opens a batch need
     * not wake this one.
     */
    private long answerExpectedByMs = Long.MIN_VALUE;

    private long idSeen;
    private ProducerIds.Refusal refusalSeen;
    private long visits;

    Drainer(
            IoContext context,
            SenderSettings settings,
            ProducerIds ids,
            MetadataRefresh metadata,
            TransactionShare transactions) {
        this.transactions = transactions;
        this.accumulator = context.accumulator();
        this.ready = context.ready();
        this.images = context.images();
        this.link = context.link();
        this.stalled = context.stalled();
        this.clock = context.clock();
        this.memory = new BrokerMemory(context.wallClock());
        this.settings = settings;
        this.ids = ids;
        this.metadata = metadata;
        this.metrics = context.metrics();
        this.answerHandler = new AnswerHandler(settings, metrics);
        this.next = new NextBatch(context, settings, transactions);
        this.places = new PartitionPlaces(context, settings, metadata, transactions, next);
        this.questions = new ProducerQuestions(
                context, settings, memory, metadata, places, partition -> visit(partition, clock.nowMs()));
    }

    /**
     * Visits every partition for which something may have changed: delivers outcomes, and schedules what is to be sent.
     */
    void visitChanged(long nowMs) {
        boolean isNewImage = places.updateImage();
        visitOffered(nowMs);
        visitAll(places.takeBackedOff(nowMs), nowMs);
        for (PartitionState p : places.pollExpiring(nowMs)) {
            expire(p, nowMs);
        }
        visitLingering(nowMs);
        if (isNewImage) {
            visitAll(places.takeMisplaced(), nowMs);
        }
        if (ids.current().id() != idSeen) {
            idSeen = ids.current().id();
            accumulator.forEachQueue(ready, queue -> visit(stateOf(queue), nowMs));
        }
        failOnRefusedId();
    }

    /**
     * Visits each partition offered so far, once. Otherwise a callback that always sends again would offer them
     * endlessly.
     */
    private void visitOffered(long nowMs) {
        if (ready.pollMissed()) {
            accumulator.forEachQueue(ready, queue -> visit(stateOf(queue), nowMs));
        }
        for (PartitionQueue queue = ready.poll(); queue != null; queue = ready.poll()) {
            addChanged(stateOf(queue));
        }
        visitAllChanged(nowMs);
    }

    private void addChanged(PartitionState p) {
        if (!p.isChanged) {
            p.isChanged = true;
            changed.add(p);
        }
    }

    private void visitAllChanged(long nowMs) {
        for (PartitionState p = changed.poll(); p != null; p = changed.poll()) {
            p.isChanged = false;
            visit(p, nowMs);
        }
    }

    private void visitLingering(long nowMs) {
        boolean mayEndEarly = next.mayEndLinger();
        for (Lane lane : places.lanes()) {
            if (mayEndEarly) {
                visitAll(places.takeLingering(lane, p -> true), nowMs);
            }
            for (PartitionState p : places.takeLingered(lane, nowMs)) {
                visit(p, nowMs);
                lane.isLingerOver |= p.place.isInLane();
            }
        }
    }

    private void failOnRefusedId() {
        ProducerIds.Refusal refusal = ids.refusal();
        if (refusal != refusalSeen) {
            refusalSeen = refusal;
            log.error("The cluster gave no producer id; all records buffered before the request fail", refusal.error);
            failAll(refusal.askedMs, refusal.error);
        }
    }

    private void visitAll(List<PartitionState> taken, long nowMs) {
        for (PartitionState p : taken) {
            visit(p, nowMs);
        }
    }

    private PartitionState stateOf(PartitionQueue queue) {
        while (partitions.size() <= queue.id()) {
            partitions.add(null);
        }
        PartitionState known = partitions.get(queue.id());
        if (known == null) {
            known = new PartitionState(queue, settings, memory, metrics, transactions);
            partitions.set(queue.id(), known);
        }
        return known;
    }

    private void visit(PartitionState p, long nowMs) {
        deliverOutcomes(p);
        places.place(p, nowMs);
    }

    /** Runs callbacks, completes futures and frees memory for decided batches; then closes a gap in the sequences. */
    private void deliverOutcomes(PartitionState p) {
        visits++;
        p.givenUp.failUnwritable();
        p.givenUp.failAfterGap();
        p.givenUp.failWithdrawn();
        p.deliverDecided();
        p.completeWithdrawals();
        p.closeSequenceGap(ids);
    }

    private void expire(PartitionState p, long nowMs) {
        p.givenUp.failOpenedBefore(
                nowMs - settings.deliveryTimeoutMs() + 1,
                batch -> new TimeoutException("Expiring " + batch.count()
                        + " record(s) for " + batch.partition() + ": " + (nowMs - batch.createdMs())
                        + " ms have passed since the batch was opened, more than delivery.timeout.ms = "
                        + settings.deliveryTimeoutMs()
                        + (batch.attempts() == 0 ? "; it was never sent" : "; sent " + batch.attempts() + " time(s)")));
        visit(p, nowMs);
    }

    /**
     * Sends what can be sent.
     *
     * @return milliseconds that may be spent waiting before the next call
     */
    long drain(long nowMs) {
        long waitMs = questions.askIfDue(nowMs); // first: lanes that are never empty would leave no room for a question
        if (ids.current().isKnown()) {
            waitMs = Math.min(waitMs, drainLanes(nowMs));
        }
        waitMs = Math.min(waitMs, questions.askIfDue(nowMs)); // of partitions whose question has come up meanwhile
        return Math.min(waitMs, places.delayMs(nowMs));
    }

    private long drainLanes(long nowMs) {
        long waitMs = Long.MAX_VALUE;
        for (Lane lane : places.lanes()) {
            if (lane.node == TopicImage.NO_LEADER) {
                continue;
            }
            Node node = places.image().node(lane.node);
            boolean taken = false;
            boolean isOver = false;
            while (!isOver && ids.current().isKnown() && !lane.waiting.isEmpty() && link.ready(node, nowMs)) {
                takeLingeringAlong(lane, nowMs);
                // If nothing was sent, the lane holds only partitions that callbacks added; the next round serves them.
                isOver = !sendOneRequest(node, lane, nowMs);
                taken |= !isOver;
            }
            boolean waiting = !lane.waiting.isEmpty();
            if (waiting) {
                waitMs = isOver ? 0 : Math.min(waitMs, link.pollDelayMs(node, nowMs));
            }
            int inFlight = link.inFlightRequests(node.id());
            stalled.note(node.id(), taken, waiting || inFlight >= settings.maxInFlight(), nowMs);
            if (taken) {
                answerExpectedByMs = Deadlines.plus(nowMs, settings.shortestLingerMs());
            }
            if (inFlight > 0 && nowMs < answerExpectedByMs) {
                waitMs = Math.min(waitMs, answerExpectedByMs - nowMs);
            }
        }
        return waitMs;
    }

    /** Adds lingering batches: each costs less in a request that is sent anyway than in one a moment later. */
    private void takeLingeringAlong(Lane lane, long nowMs) {
        if (!lane.isLingerOver) {
            return;
        }
        lane.isLingerOver = false;
        for (PartitionState p : places.takeLingering(lane, p -> !p.queue().isWorthWaiting(nowMs))) {
            deliverOutcomes(p);
            places.placeTakenAlong(p, nowMs);
        }
    }

    /** Returns false if no partition in the lane had anything to send after all. */
    private boolean sendOneRequest(Node node, Lane lane, long nowMs) {
        List<FinishedBatch> batches = new ArrayList<>();
        List<PartitionState> senders = new ArrayList<>();
        long size = 0;
        while (!lane.waiting.isEmpty()) {
            PartitionState p = lane.waiting.peek();
            boolean admitted = !p.isIdle() && transactions.tryAdmit(p);
            ProducerId newest =
                    ids.current(); // read after tryAdmit(): a transaction's batch must not have an older epoch
            FinishedBatch batch = admitted && newest.isKnown() ? next.prepareOrNull(p, node.id(), newest, nowMs) : null;
            if (batch != null && size > 0 && size + batch.size() > settings.maxRequestSize()) {
                break;
            }
            places.takeFirst(lane);
            addChanged(p);
            if (batch == null) {
                continue; // it has changed since it was placed
            }
            p.markInFlight(batch, node.id(), newest, nowMs);
            size += batch.size();
            batches.add(batch);
            senders.add(p);
        }
        if (!batches.isEmpty()) {
            link.produce(
                    node,
                    batches,
                    places.image(),
                    (answers, leaders, endpoints) -> onAnswers(senders, answers, leaders, endpoints),
                    nowMs);
        }
        visitAllChanged(nowMs);
        return !batches.isEmpty();
    }

    private void onAnswers(
            List<PartitionState> senders, List<ProduceAnswer> answers, List<LeaderHint> leaders, List<Node> endpoints) {
        long nowMs = clock.nowMs();
        images.applyLeaderHints(leaders, endpoints);
        for (int i = 0; i < answers.size(); i++) {
            answerHandler.handle(senders.get(i), answers.get(i), nowMs);
            if (answers.get(i).error() instanceof InvalidMetadataException) {
                metadata.request();
            }
        }
        for (PartitionState p : senders) {
            visit(p, nowMs);
        }
    }

    /** Fails every record without an outcome whose batch was opened before {@code createdBeforeMs}. */
    void failAll(long createdBeforeMs, RuntimeException reason) {
        GivenUpBatches.Abort abort = new GivenUpBatches.Abort(reason);
        accumulator.forEachQueue(ready, queue -> stateOf(queue).givenUp.failOpenedBefore(createdBeforeMs, abort));
        deliverDecided();
    }

    /**
     * Fails all as {@link #failAll}, even batches that a writer left unfinished. Only after the accumulator is closed.
     */
    void failAlsoUnfinished(RuntimeException reason) {
        accumulator.forEachQueue(ready, queue -> queue.giveUpUnfinished(reason));
        failAll(Long.MAX_VALUE, reason);
    }

    /** Fails every record that has not been sent yet. */
    void failUnsent(RuntimeException reason) {
        GivenUpBatches.Abort abort = new GivenUpBatches.Abort(reason);
        accumulator.forEachQueue(ready, queue -> stateOf(queue).givenUp.failUnsent(Long.MAX_VALUE, abort));
        deliverDecided();
    }

    private void deliverDecided() {
        for (PartitionState p : partitions) {
            if (p != null) {
                p.deliverDecided();
            }
        }
    }

    /** Frees memory. Call it after {@link BrokerLink#close}, when nothing is in flight any more. */
    void abandonInFlight() {
        for (PartitionState p : partitions) {
            if (p != null) {
                p.abandonInFlight();
                p.deliverDecided();
            }
        }
    }

    /** Returns how often a partition was visited so far; idle partitions must not add to it. */
    long visits() {
        return visits;
    }

    /** Whether every record ever appended has its outcome. */
    boolean isIdle() {
        boolean[] idle = {true};
        accumulator.forEachQueue(ready, queue -> idle[0] &= stateOf(queue).isIdle());
        return idle[0];
    }
}
