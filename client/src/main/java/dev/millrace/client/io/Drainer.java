package dev.millrace.client.io;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.accumulator.PartitionQueue;
import dev.millrace.client.accumulator.ReadyQueue;
import dev.millrace.client.accumulator.SealCause;
import dev.millrace.client.io.BrokerLink.ProduceAnswer;
import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.StalledBrokers;
import dev.millrace.client.metadata.TopicImage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.InvalidMetadataException;
import org.apache.kafka.common.errors.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends batches to the brokers. A partition with something to send waits in the lane of its leader; a lane is served in
 * turn, so that no partition is starved (KAFKA-13834). Idle partitions cost nothing: only those that were offered or
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
    private final BrokerMemory memory = new BrokerMemory();
    private final ProducerQuestions questions;
    private final TransactionShare transactions;
    private final MonotonicClock clock;

    private final List<PartitionState> partitions = new ArrayList<>();
    private final Map<Integer, Lane> lanes = new HashMap<>();
    private final Lane withoutLeader = new Lane(TopicImage.NO_LEADER);

    /** Those of {@code lanes}, and {@code withoutLeader}. Replaced, not changed: whoever goes through it may add one. */
    private List<Lane> allLanes = List.of(withoutLeader);

    private final ArrayDeque<PartitionState> later = new ArrayDeque<>();
    private final Deadlines backingOff = new Deadlines();
    private final Deadlines expiring = new Deadlines();

    /** The same for a whole round, so that a batch's broker and topic id come from one image. */
    private ClusterImage image;

    /**
     * The earliest time at which a batch can be due that is opened after the last request. While that is in flight this
     * thread does not sleep past this time: the answer most likely comes first, and a thread that opens a batch need not
     * wake this one.
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
        this.image = images.current();
        this.link = context.link();
        this.stalled = context.stalled();
        this.clock = context.clock();
        this.settings = settings;
        this.ids = ids;
        this.metadata = metadata;
        this.metrics = context.metrics();
        this.answerHandler = new AnswerHandler(settings, metrics);
        this.questions = new ProducerQuestions(
                link, memory, settings, clock, metadata, partition -> deliverAndSchedule(partition, clock.nowMs()));
    }

    /**
     * Visits every partition for which something may have changed: delivers outcomes, and schedules what is to be sent.
     */
    void visitChanged(long nowMs) {
        ClusterImage newest = images.current();
        boolean isNewImage = newest.version() != image.version();
        image = newest;
        visitOffered(nowMs);
        for (PartitionState p = backingOff.pollDue(nowMs); p != null; p = backingOff.pollDue(nowMs)) {
            deliverAndSchedule(p, nowMs);
        }
        for (PartitionState p = expiring.pollDue(nowMs); p != null; p = expiring.pollDue(nowMs)) {
            expire(p, nowMs);
        }
        visitLingering(nowMs);
        if (isNewImage) {
            rebuildLanes(nowMs);
        }
        if (ids.current().id() != idSeen) {
            idSeen = ids.current().id();
            accumulator.forEachQueue(ready, queue -> deliverAndSchedule(stateOf(queue), nowMs));
        }
        failOnRefusedId();
    }

    /** Visits each partition offered so far, once. A callback that always sends again could offer them without end. */
    private void visitOffered(long nowMs) {
        if (ready.pollMissed()) {
            accumulator.forEachQueue(ready, queue -> deliverAndSchedule(stateOf(queue), nowMs));
        }
        for (PartitionQueue queue = ready.poll(); queue != null; queue = ready.poll()) {
            PartitionState p = stateOf(queue);
            if (!p.isOffered) {
                p.isOffered = true;
                later.add(p);
            }
        }
        visitLater(nowMs);
    }

    private void visitLater(long nowMs) {
        for (PartitionState p = later.poll(); p != null; p = later.poll()) {
            p.isOffered = false;
            deliverAndSchedule(p, nowMs);
        }
    }

    private void visitLingering(long nowMs) {
        boolean isLateEnough = isUrgent() || accumulator.isShortOfMemory();
        for (Lane lane : allLanes) {
            if (isLateEnough) {
                visitAll(lane.lingering.pollAll(), nowMs);
            }
            for (PartitionState p = lane.lingering.pollDue(nowMs); p != null; p = lane.lingering.pollDue(nowMs)) {
                deliverAndSchedule(p, nowMs);
                lane.isLingerOver |= p.inLane && isLingerOver(p, nowMs); // the lane may hold an older batch of it
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

    private void visitAll(List<PartitionState> waiting, long nowMs) {
        for (PartitionState p : waiting) {
            deliverAndSchedule(p, nowMs);
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

    private void deliverAndSchedule(PartitionState p, long nowMs) {
        deliverOutcomes(p);
        schedule(p, nowMs);
    }

    /** Runs callbacks, completes futures and frees memory of decided batches; then closes a gap in the sequences. */
    private void deliverOutcomes(PartitionState p) {
        visits++;
        p.failUnwritable();
        p.failAfterGap();
        p.failWithdrawn();
        p.deliverDecided();
        p.completeWithdrawals();
        p.closeSequenceGap(ids);
    }

    /** Puts a partition that is not idle into its leader's lane, or sets the deadline for its next visit. */
    private void schedule(PartitionState p, long nowMs) {
        if (p.isIdle()) {
            return;
        }
        TopicImage topic = image.topic(p.topic());
        metadata.noteUse(p.topic(), topic == null);
        long expiryMs = Deadlines.plus(p.oldestCreatedMs(), settings.deliveryTimeoutMs());
        expiring.scheduleBy(
                p.expiring, Math.max(expiryMs, nowMs + 1)); // if it is due already, a writer has not committed yet
        if (p.inLane || !transactions.tryAdmit(p)) {
            return;
        }
        if (topic != null && p.partition() < topic.partitions()) {
            p.updateLeader(topic.id(), topic.leaderEpoch(p.partition()));
        }
        int node = leaderOf(p);
        if (p.isQuestionOpen(nowMs)) {
            questions.add(p);
            if (node == TopicImage.NO_LEADER) {
                metadata.request();
            }
            return;
        }
        Lane lane = laneOf(node);
        if (hasBatchFor(p, node, nowMs)) {
            p.inLane = true;
            lane.waiting.add(p);
            if (node == TopicImage.NO_LEADER) {
                metadata.request();
            }
        } else if (p.isOpenBatchNext(node, nowMs)) {
            lane.lingering.scheduleBy(p.lingering, p.queue().oldestLingerUntilMs());
        } else if (p.notBeforeMs() > nowMs) {
            backingOff.scheduleBy(p.backingOff, p.notBeforeMs());
        }
    }

    private Lane laneOf(int node) {
        if (node == TopicImage.NO_LEADER) {
            return withoutLeader;
        }
        Lane known = lanes.get(node);
        if (known == null) {
            known = new Lane(node);
            lanes.put(node, known);
            listLanes();
        }
        return known;
    }

    private void listLanes() {
        List<Lane> all = new ArrayList<>(lanes.values());
        all.add(withoutLeader);
        allLanes = List.copyOf(all);
    }

    private boolean hasBatchFor(PartitionState p, int node, long nowMs) {
        return p.candidate(node, nowMs) != null
                || (p.isOpenBatchNext(node, nowMs) && sealCauseOrNull(p, node, nowMs) != null);
    }

    /** Why the open batch is sent now, or null if it waits for more records. */
    private SealCause sealCauseOrNull(PartitionState p, int node, long nowMs) {
        if (p.isTakenAlong || isLingerOver(p, nowMs)) {
            return SealCause.LINGER;
        }
        if (isUrgent()) {
            return SealCause.FLUSH;
        }
        return accumulator.isShortOfMemory() && link.inFlightRequests(node) == 0 ? SealCause.MEMORY : null;
    }

    /** Also, without linger, if the batch was opened in a later millisecond than the round began. */
    private boolean isLingerOver(PartitionState p, long nowMs) {
        return p.queue().hasRecords() && (settings.lingerMs() == 0 || p.queue().oldestLingerUntilMs() <= nowMs);
    }

    private boolean isUrgent() {
        return accumulator.isUrgent() || transactions.isUrgent();
    }

    /**
     * Prepares the partition's next batch. An open one is sealed only here, so that it fills while its broker is busy.
     */
    private FinishedBatch prepareNextBatch(PartitionState p, int node, ProducerId newest, long nowMs) {
        if (p.isOpenBatchNext(node, nowMs)) {
            SealCause cause = sealCauseOrNull(p, node, nowMs);
            if (cause != null) {
                p.queue().sealOldest(cause);
            }
        }
        FinishedBatch batch = p.candidate(node, nowMs);
        while (batch != null && batch.size() > settings.maxRequestSize() && batch.count() > 1) {
            p.splitUnsent(batch, newest); // it was expected to compress better
            batch = p.candidate(node, nowMs);
        }
        return batch;
    }

    private void expire(PartitionState p, long nowMs) {
        p.failOpenedBefore(
                nowMs - settings.deliveryTimeoutMs() + 1,
                batch -> new TimeoutException("Expiring " + batch.count()
                        + " record(s) for " + batch.partition() + ": " + (nowMs - batch.createdMs())
                        + " ms have passed since the batch was opened, more than delivery.timeout.ms = "
                        + settings.deliveryTimeoutMs()
                        + (batch.attempts() == 0 ? "; it was never sent" : "; sent " + batch.attempts() + " time(s)")));
        deliverAndSchedule(p, nowMs);
    }

    /** Leaders may have moved: visits each partition that waits in a lane, or lingers in one that is not its leader's. */
    private void rebuildLanes(long nowMs) {
        List<PartitionState> moved = new ArrayList<>();
        for (Lane lane : allLanes) {
            emptyLane(lane, moved);
            if (lanes.containsKey(lane.node) && image.node(lane.node) == null) {
                lanes.remove(lane.node);
                stalled.clear(lane.node);
            }
        }
        listLanes();
        visitAll(moved, nowMs);
        visitAll(backingOff.pollAll(), nowMs);
    }

    private void emptyLane(Lane lane, List<PartitionState> moved) {
        lane.waiting.forEach(PartitionState::leaveLane);
        moved.addAll(lane.waiting);
        lane.waiting.clear();
        moved.addAll(lane.lingering.pollIf(p -> leaderOf(p) != lane.node));
    }

    private int leaderOf(PartitionState p) {
        Node leader = image.leader(p.topic(), p.partition());
        return leader == null ? TopicImage.NO_LEADER : leader.id();
    }

    /**
     * Sends what can be sent.
     *
     * @return milliseconds that may be spent waiting before the next call
     */
    long drain(long nowMs) {
        long waitMs = ids.current().isKnown() ? drainLanes(nowMs) : Long.MAX_VALUE;
        waitMs = Math.min(waitMs, questions.askIfDue(image, nowMs));
        for (Lane lane : allLanes) {
            waitMs = Math.min(waitMs, lane.lingering.delayMs(nowMs));
        }
        waitMs = Math.min(waitMs, backingOff.delayMs(nowMs));
        return Math.min(waitMs, expiring.delayMs(nowMs));
    }

    private long drainLanes(long nowMs) {
        long waitMs = Long.MAX_VALUE;
        for (Lane lane : allLanes) {
            if (lane.node == TopicImage.NO_LEADER) {
                continue;
            }
            Node node = image.node(lane.node);
            boolean taken = false;
            boolean isOver = false;
            while (!isOver && ids.current().isKnown() && !lane.waiting.isEmpty() && link.ready(node, nowMs)) {
                takeLingeringAlong(lane, nowMs);
                // If nothing was sent, the lane holds only partitions that callbacks added; the next round serves them.
                isOver = !sendOneRequest(node, lane.waiting, nowMs);
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

    /** A request that is sent anyway costs less for each batch than one more, a moment later. */
    private void takeLingeringAlong(Lane lane, long nowMs) {
        if (!lane.isLingerOver) {
            return;
        }
        lane.isLingerOver = false;
        for (PartitionState p : lane.lingering.pollIf(p -> !p.queue().isWorthWaiting(nowMs))) {
            p.isTakenAlong = true;
            deliverAndSchedule(p, nowMs);
            p.isTakenAlong = p.inLane;
        }
    }

    /** False if no partition in the lane had anything to send after all. */
    private boolean sendOneRequest(Node node, ArrayDeque<PartitionState> lane, long nowMs) {
        List<FinishedBatch> batches = new ArrayList<>();
        List<PartitionState> senders = new ArrayList<>();
        long size = 0;
        while (!lane.isEmpty()) {
            PartitionState p = lane.peek();
            boolean admitted = !p.isIdle() && transactions.tryAdmit(p);
            ProducerId newest =
                    ids.current(); // read after tryAdmit(): a transaction's batch must not have an older epoch
            FinishedBatch batch = admitted && newest.isKnown() ? prepareNextBatch(p, node.id(), newest, nowMs) : null;
            if (batch != null && size > 0 && size + batch.size() > settings.maxRequestSize()) {
                break;
            }
            lane.poll();
            p.leaveLane();
            if (batch == null) {
                later.add(p); // something has changed; visit it again
                continue;
            }
            p.markInFlight(batch, node.id(), newest, nowMs);
            size += batch.size();
            batches.add(batch);
            senders.add(p);
            later.add(p);
        }
        if (!batches.isEmpty()) {
            link.produce(
                    node,
                    batches,
                    image,
                    (answers, leaders, endpoints) -> onAnswers(senders, answers, leaders, endpoints),
                    nowMs);
        }
        visitLater(nowMs);
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
            deliverAndSchedule(p, nowMs);
        }
    }

    /** Fails every record without an outcome whose batch was opened before {@code createdBeforeMs}. */
    void failAll(long createdBeforeMs, RuntimeException reason) {
        PartitionState.Abort abort = new PartitionState.Abort(reason);
        accumulator.forEachQueue(ready, queue -> stateOf(queue).failOpenedBefore(createdBeforeMs, abort));
        deliverDecided();
    }

    /** As {@link #failAll} of all, also of batches that a writer has left unfinished. Only after the accumulator is closed. */
    void failAlsoUnfinished(RuntimeException reason) {
        accumulator.forEachQueue(ready, queue -> queue.giveUpUnfinished(reason));
        failAll(Long.MAX_VALUE, reason);
    }

    /** Fails every record that has not been sent yet. */
    void failUnsent(RuntimeException reason) {
        PartitionState.Abort abort = new PartitionState.Abort(reason);
        accumulator.forEachQueue(ready, queue -> stateOf(queue).failUnsent(Long.MAX_VALUE, abort));
        deliverDecided();
    }

    private void deliverDecided() {
        for (PartitionState p : partitions) {
            if (p != null) {
                p.deliverDecided();
            }
        }
    }

    /** After {@link BrokerLink#close}: nothing is in flight any more, so memory is given back. */
    void abandonInFlight() {
        for (PartitionState p : partitions) {
            if (p != null) {
                p.abandonInFlight();
                p.deliverDecided();
            }
        }
    }

    /** How often a partition was visited so far; idle partitions must not add to it. */
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
