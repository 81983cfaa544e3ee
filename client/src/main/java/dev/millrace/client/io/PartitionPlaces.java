package dev.millrace.client.io;

import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.StalledBrokers;
import dev.millrace.client.metadata.TopicImage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.kafka.common.Node;

/**
 * Decides where each partition waits: in its leader's lane, beside it because its open batch lingers, apart until its
 * leader can be asked or a backoff ends, or nowhere. A partition is in one place at a time. {@link #place} chooses it
 * from the partition's state alone, and only {@link #move} takes the partition there. Whatever changes that state calls
 * {@link #place} again.
 *
 * <p>A partition in a lane keeps its turn, and whether it still has something to send is checked when its turn comes.
 * If each change gave it a new turn, a busy partition would starve (KAFKA-13834). Only a new image ends its turn early.
 *
 * <p>The time at which a partition's oldest batch expires is kept apart from its place, because batches expire in every
 * place and also in flight. It is set again only after it has passed: few batches live that long, and following each
 * batch would cost more than one needless visit per {@code delivery.timeout.ms}.
 *
 * <p><b>Threads:</b> the I/O thread.
 */
final class PartitionPlaces {
    private final ClusterImages images;
    private final StalledBrokers stalled;
    private final SenderSettings settings;
    private final MetadataRefresh metadata;
    private final TransactionShare transactions;
    private final NextBatch next;

    private final Map<Integer, Lane> lanes = new HashMap<>();
    private final Lane withoutLeader = new Lane(TopicImage.NO_LEADER);

    /**
     * The lanes of {@code lanes} and {@code withoutLeader}. Replaced, not changed: an iterating caller may add a lane.
     */
    private List<Lane> allLanes = List.of(withoutLeader);

    private final Set<PartitionState> asking = new LinkedHashSet<>();
    private final Deadlines backingOff = new Deadlines();
    private final Deadlines expiring = new Deadlines();

    private ClusterImage image;

    PartitionPlaces(
            IoContext context,
            SenderSettings settings,
            MetadataRefresh metadata,
            TransactionShare transactions,
            NextBatch next) {
        this.images = context.images();
        this.image = images.current();
        this.stalled = context.stalled();
        this.settings = settings;
        this.metadata = metadata;
        this.transactions = transactions;
        this.next = next;
    }

    /** Returns the same image for a whole round, so that a batch's broker and topic id come from one image. */
    ClusterImage image() {
        return image;
    }

    /**
     * Takes the newest image for the new round. Returns true if it is new: then visit {@link #takeMisplaced} in this
     * round.
     */
    boolean updateImage() {
        ClusterImage newest = images.current();
        boolean isNew = newest.version() != image.version();
        image = newest;
        return isNew;
    }

    /** Returns the brokers' lanes, and that of the partitions without a leader. */
    List<Lane> lanes() {
        return allLanes;
    }

    /** Puts a partition where it belongs now. */
    void place(PartitionState p, long nowMs) {
        place(p, Place.LANE, nowMs);
    }

    /** Places as {@link #place}, but without lingering: a request to the partition's leader is about to be sent. */
    void placeTakenAlong(PartitionState p, long nowMs) {
        place(p, Place.TAKEN_ALONG, nowMs);
    }

    /** @param turn where it waits for its turn if it has something to send */
    private void place(PartitionState p, Place turn, long nowMs) {
        boolean isIdle = p.isIdle();
        TopicImage topic = image.topic(p.topic());
        if (!isIdle) {
            metadata.noteUse(p.topic(), topic == null);
            scheduleExpiry(p, nowMs);
        }
        if (p.place.isInLane()) {
            return;
        }
        if (isIdle || !transactions.tryAdmit(p)) {
            leave(p);
            return;
        }
        boolean isKnown = topic != null && p.partition() < topic.partitions();
        if (isKnown) {
            p.updateLeader(topic.id(), topic.leaderEpoch(p.partition()));
        }
        Node leader = isKnown ? image.leader(topic, p.partition()) : null;
        Lane lane = leader == null ? withoutLeader : laneOf(leader.id());
        move(p, placeFor(p, lane.node, turn, nowMs), lane);
        if (leader == null && (p.place.isInLane() || p.place == Place.ASKING)) {
            metadata.request();
        }
    }

    private void scheduleExpiry(PartitionState p, long nowMs) {
        long expiryMs = Deadlines.plus(p.oldestCreatedMs(), settings.deliveryTimeoutMs());
        expiring.scheduleBy(
                p.expiring, Math.max(expiryMs, nowMs + 1)); // if it is due already, a writer has not committed yet
    }

    private Place placeFor(PartitionState p, int node, Place turn, long nowMs) {
        boolean isBackingOff = p.notBeforeMs() > nowMs;
        if (p.isQuestionOpen(nowMs)) {
            return isBackingOff ? Place.BACKING_OFF : Place.ASKING;
        }
        if (next.isReady(p, node, turn == Place.TAKEN_ALONG, nowMs)) {
            return turn;
        }
        if (p.isOpenBatchNext(node, nowMs)) {
            return Place.LINGERING;
        }
        return isBackingOff ? Place.BACKING_OFF : Place.NOWHERE;
    }

    private Lane laneOf(int node) {
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

    private void leave(PartitionState p) {
        move(p, Place.NOWHERE, withoutLeader);
    }

    /**
     * Changes where a partition waits; nothing else does. The caller has already removed a partition that it took from
     * a lane.
     *
     * @param lane its leader's lane; not used for a place that is not in or beside a lane
     */
    private void move(PartitionState p, Place to, Lane lane) {
        if (p.place == Place.ASKING) {
            asking.remove(p);
        }
        switch (to) {
            case NOWHERE -> p.revisit.cancel();
            case LANE, TAKEN_ALONG -> {
                p.revisit.cancel();
                lane.waiting.add(p);
            }
            case LINGERING -> lane.lingering.scheduleBy(p.revisit, p.queue().oldestLingerUntilMs());
            case ASKING -> {
                p.revisit.cancel();
                asking.add(p);
            }
            case BACKING_OFF -> backingOff.scheduleBy(p.revisit, p.notBeforeMs());
        }
        p.place = to;
    }

    // ---- removing partitions to visit them ----

    /** Removes the partition whose turn it is in this lane. */
    PartitionState takeFirst(Lane lane) {
        PartitionState first = lane.waiting.remove();
        leave(first);
        return first;
    }

    /** Removes partitions that linger beside this lane and have waited for {@code linger.ms}. */
    List<PartitionState> takeLingered(Lane lane, long nowMs) {
        return leaveAll(lane.lingering.pollDue(nowMs));
    }

    /** Removes partitions that linger beside this lane and fulfil the condition. */
    List<PartitionState> takeLingering(Lane lane, Predicate<PartitionState> condition) {
        return leaveAll(lane.lingering.pollIf(condition));
    }

    /** Removes partitions whose leader must be asked. */
    List<PartitionState> takeAsking() {
        if (asking.isEmpty()) {
            return List.of();
        }
        List<PartitionState> taken = List.copyOf(asking);
        asking.clear();
        return leaveAll(taken);
    }

    /** Removes partitions whose backoff is over. */
    List<PartitionState> takeBackedOff(long nowMs) {
        return leaveAll(backingOff.pollDue(nowMs));
    }

    /**
     * Leaders may have moved: removes partitions that wait in a lane, that back off, or that linger beside a lane that
     * is not their leader's.
     */
    List<PartitionState> takeMisplaced() {
        List<PartitionState> taken = new ArrayList<>();
        for (Lane lane : allLanes) {
            taken.addAll(lane.waiting);
            lane.waiting.clear();
            taken.addAll(lane.lingering.pollIf(p -> leaderOf(p) != lane.node));
            if (lanes.containsKey(lane.node) && image.node(lane.node) == null) {
                lanes.remove(lane.node);
                stalled.clear(lane.node);
            }
        }
        listLanes();
        taken.addAll(backingOff.pollAll());
        return leaveAll(taken);
    }

    private List<PartitionState> leaveAll(List<PartitionState> taken) {
        for (PartitionState p : taken) {
            leave(p);
        }
        return taken;
    }

    private int leaderOf(PartitionState p) {
        Node leader = image.leader(p.topic(), p.partition());
        return leader == null ? TopicImage.NO_LEADER : leader.id();
    }

    /** Returns partitions whose oldest batch may have expired. They remain in their places. */
    List<PartitionState> pollExpiring(long nowMs) {
        return expiring.pollDue(nowMs);
    }

    /** Returns milliseconds until some partition stops lingering or backing off, or expires. */
    long delayMs(long nowMs) {
        long delayMs = Math.min(backingOff.delayMs(nowMs), expiring.delayMs(nowMs));
        for (Lane lane : allLanes) {
            delayMs = Math.min(delayMs, lane.lingering.delayMs(nowMs));
        }
        return delayMs;
    }
}
