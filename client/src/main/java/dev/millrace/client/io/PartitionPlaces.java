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
 * Decides where each partition waits: in its leader's lane, beside it because its open batch lingers, until a backoff
 * ends, or nowhere. A partition is in one place at a time. {@link #place} decides in which, from the partition's state
 * alone, and {@link #move} alone takes it there. Whatever changes that state calls {@link #place} again.
 *
 * <p>A partition in a lane keeps its turn, and whether it still has something to send is looked at when its turn comes.
 * If each change gave it a new turn, a busy partition would starve (KAFKA-13834). Only a new image ends its turn early.
 *
 * <p>The time at which a partition's oldest batch expires is apart from its place, because batches expire in every place
 * and also while they are in flight. It is set again only after it has come: few batches live that long, and to follow
 * each batch would cost more than one visit for nothing per {@code delivery.timeout.ms}.
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

    /** Those of {@code lanes}, and {@code withoutLeader}. Replaced, not changed: whoever goes through it may add one. */
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

    /** The same for a whole round, so that a batch's broker and topic id come from one image. */
    ClusterImage image() {
        return image;
    }

    /** Takes the newest image for the round that begins. True if it is new: visit {@link #takeMisplaced} in this round. */
    boolean updateImage() {
        ClusterImage newest = images.current();
        boolean isNew = newest.version() != image.version();
        image = newest;
        return isNew;
    }

    /** The brokers' lanes, and that of the partitions without a leader. */
    List<Lane> lanes() {
        return allLanes;
    }

    /** Puts a partition where it belongs now. */
    void place(PartitionState p, long nowMs) {
        place(p, Place.LANE, nowMs);
    }

    /** As {@link #place}, but its open batch need not linger: a request to its leader is about to be sent. */
    void placeTakenAlong(PartitionState p, long nowMs) {
        place(p, Place.TAKEN_ALONG, nowMs);
    }

    /** @param turn how it waits for its turn, if it has something to send */
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
     * Changes where a partition waits; nothing else does. What takes a partition from a lane has removed it there before.
     *
     * @param lane its leader's; not used for a place that is not in or beside a lane
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

    // ---- what leaves its place, to be visited ----

    /** Takes out the partition whose turn it is in this lane. */
    PartitionState takeFirst(Lane lane) {
        PartitionState first = lane.waiting.remove();
        leave(first);
        return first;
    }

    /** Takes out what lingers beside this lane and has waited for {@code linger.ms}. */
    List<PartitionState> takeLingered(Lane lane, long nowMs) {
        return leaveAll(lane.lingering.pollDue(nowMs));
    }

    /** Takes out what lingers beside this lane and fulfils the condition. */
    List<PartitionState> takeLingering(Lane lane, Predicate<PartitionState> condition) {
        return leaveAll(lane.lingering.pollIf(condition));
    }

    /** Takes out those whose leader is to be asked. */
    List<PartitionState> takeAsking() {
        if (asking.isEmpty()) {
            return List.of();
        }
        List<PartitionState> taken = List.copyOf(asking);
        asking.clear();
        return leaveAll(taken);
    }

    /** Takes out those whose backoff is over. */
    List<PartitionState> takeBackedOff(long nowMs) {
        return leaveAll(backingOff.pollDue(nowMs));
    }

    /**
     * Leaders may have moved: takes out what waits in a lane, what backs off, and what lingers beside a lane that is not
     * its leader's.
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

    /** Those whose oldest batch may have expired. They stay where they wait. */
    List<PartitionState> pollExpiring(long nowMs) {
        return expiring.pollDue(nowMs);
    }

    /** Milliseconds until some partition lingers no longer, backs off no longer, or expires. */
    long delayMs(long nowMs) {
        long delayMs = Math.min(backingOff.delayMs(nowMs), expiring.delayMs(nowMs));
        for (Lane lane : allLanes) {
            delayMs = Math.min(delayMs, lane.lingering.delayMs(nowMs));
        }
        return delayMs;
    }
}
