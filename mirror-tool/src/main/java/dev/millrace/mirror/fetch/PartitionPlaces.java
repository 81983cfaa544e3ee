package dev.millrace.mirror.fetch;

import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.TopicImage;
import dev.millrace.mirror.fetch.FetchPartition.Phase;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InconsistentTopicIdException;
import org.apache.kafka.common.errors.RetriableException;

/**
 * Decides where each partition is fetched: in which session of which broker. A partition is in no session while it has
 * no leader, its position must be checked or moved, it keeps too many bytes, the sink holds it, or it backs off after
 * an error.
 *
 * <p><b>Threads:</b> the fetch thread.
 */
final class PartitionPlaces {
    private final Supplier<ClusterImage> image;
    private final SourceMetadata metadata;
    private final PositionChecks checks;
    private final PartitionFailures failures;
    private final ToIntFunction<TopicPartition> maxAhead;
    private final AheadMemory ahead;
    private final Map<Integer, BrokerFetches> brokers = new HashMap<>();

    private final Set<FetchPartition> backingOff = new LinkedHashSet<>();

    /** The number of partitions to fetch, and of those that are in a session. */
    private int live;

    private int joined;

    /** @param maxAhead as in {@link FetchSink} */
    PartitionPlaces(
            Supplier<ClusterImage> image,
            SourceMetadata metadata,
            PositionChecks checks,
            PartitionFailures failures,
            ToIntFunction<TopicPartition> maxAhead,
            AheadMemory ahead) {
        this.image = image;
        this.metadata = metadata;
        this.checks = checks;
        this.failures = failures;
        this.maxAhead = maxAhead;
        this.ahead = ahead;
    }

    Collection<BrokerFetches> brokers() {
        return brokers.values();
    }

    /** Returns the broker's sessions; null if nothing was ever fetched from it. */
    BrokerFetches brokerOrNull(int id) {
        return brokers.get(id);
    }

    /** Whether a partition is in no session now and may soon join one. */
    boolean areSomeAway() {
        return joined < live;
    }

    void add(FetchPartition partition, long nowMs) {
        live++;
        place(partition, nowMs);
    }

    /** Puts a partition where it belongs now. */
    void place(FetchPartition partition, long nowMs) {
        if (partition.phase == Phase.STOPPED) {
            return;
        }
        updateMaxAhead(partition);
        if (nowMs < partition.notBeforeMs) {
            leave(partition);
            backingOff.add(partition);
            return;
        }
        backingOff.remove(partition);
        TopicPartition tp = partition.topicPartition();
        ClusterImage known = image.get();
        TopicImage topic = known.topic(tp.topic());
        if (topic == null || tp.partition() >= topic.partitions() || known.leader(tp.topic(), tp.partition()) == null) {
            awaitLeader(partition, known.error(tp.topic()));
            return;
        }
        if (isOtherTopic(partition, topic)) {
            awaitTopic(partition, topic);
            return;
        }
        int epoch = topic.leaderEpoch(tp.partition());
        if (needsCheck(partition, epoch)) {
            partition.phase = Phase.CHECK;
        }
        if (partition.phase != Phase.FETCH) {
            leave(partition);
            checks.add(partition);
        } else if (partition.isPaused() || partition.isHeld() || (partition.isLimited() && ahead.isFull())) {
            leave(partition);
        } else {
            join(partition, nodeOf(partition, topic, nowMs), epoch);
        }
    }

    /** Updates the limit. A held partition does not count: nobody waits for it. */
    private void updateMaxAhead(FetchPartition partition) {
        live += partition.isHeld() ? 1 : 0;
        partition.maxAhead = maxAhead.applyAsInt(partition.topicPartition());
        live -= partition.isHeld() ? 1 : 0;
    }

    /** Waits for a leader; new metadata places all partitions again. */
    private void awaitLeader(FetchPartition partition, ApiException error) {
        leave(partition);
        checks.remove(partition);
        metadata.request();
        if (error != null && error instanceof RetriableException) {
            failures.tellOnce(partition, error);
        } else if (error != null) {
            stop(partition, error);
        }
    }

    /**
     * Waits for metadata, which tells whether the topic was created again or the image is older than the assigned id.
     */
    private void awaitTopic(FetchPartition partition, TopicImage topic) {
        leave(partition);
        checks.remove(partition);
        metadata.request();
        failures.tellOnce(
                partition,
                new InconsistentTopicIdException("Topic " + topic.name() + " has id " + topic.id() + " instead of "
                        + partition.topicId + ": it was deleted and created again"));
    }

    /** Compares topic ids; the first known id is that of the topic to fetch, and brokers before 2.8 have none. */
    private static boolean isOtherTopic(FetchPartition partition, TopicImage topic) {
        if (partition.topicId.equals(Uuid.ZERO_UUID)) {
            partition.topicId = topic.id();
        }
        return !topic.id().equals(Uuid.ZERO_UUID) && !topic.id().equals(partition.topicId);
    }

    private static boolean needsCheck(FetchPartition partition, int leaderEpoch) {
        if (partition.phase != Phase.FETCH || leaderEpoch <= partition.checkedEpoch) {
            return false;
        }
        if (partition.offsetEpoch < 0) { // there is no epoch to compare
            partition.checkedEpoch = leaderEpoch;
            return false;
        }
        return true;
    }

    private int nodeOf(FetchPartition partition, TopicImage topic, long nowMs) {
        boolean isFollowerKnown = partition.readReplica >= 0
                && nowMs < partition.readReplicaUntilMs
                && image.get().node(partition.readReplica) != null;
        if (!isFollowerKnown) {
            partition.readReplica = FetchPartition.NONE;
        }
        return isFollowerKnown
                ? partition.readReplica
                : topic.leader(partition.topicPartition().partition());
    }

    private void join(FetchPartition partition, int node, int epoch) {
        BrokerFetches.Side current = partition.side;
        boolean stays = current != null && current.broker().id() == node;
        if (!stays) {
            partition.cold = false; // a cold session's request may stay outstanding for seconds
        }
        if (!stays
                || current.isCold() != partition.cold
                || !partition.slot.topicId().equals(partition.topicId)) {
            leave(partition);
            BrokerFetches.Side side =
                    brokers.computeIfAbsent(node, BrokerFetches::new).side(partition.cold);
            partition.slot = side.session().slot(partition.topicPartition(), partition.topicId);
            partition.slot.setOwner(partition);
            partition.side = side;
            joined++;
            side.shortenWait();
        }
        partition.slot.maxBytes = partition.maxAhead;
        partition.side.session().want(partition.slot, partition.offset(), epoch);
    }

    /** Takes the partition out of its session. */
    private void leave(FetchPartition partition) {
        if (partition.side != null) {
            partition.side.session().forget(partition.slot);
            partition.slot.setOwner(null);
            partition.slot = null;
            partition.side = null;
            joined--;
        }
    }

    /** Stops fetching the partition. */
    void remove(FetchPartition partition) {
        if (partition.phase == Phase.STOPPED) {
            return;
        }
        partition.phase = Phase.STOPPED;
        live -= partition.isHeld() ? 0 : 1;
        leave(partition);
        checks.remove(partition);
        backingOff.remove(partition);
    }

    /** Stops fetching the partition and tells the sink why. */
    void stop(FetchPartition partition, Throwable cause) {
        remove(partition);
        failures.tell(partition, cause);
    }

    /** Leaves the partition out for a while, which grows with each failure in a row. */
    void backOff(FetchPartition partition, long nowMs) {
        partition.failures++;
        partition.notBeforeMs = nowMs + failures.backoffMs(partition.failures);
        place(partition, nowMs);
    }

    /** Places the partitions whose back-off has ended. Returns milliseconds until the next is due. */
    long placeRested(long nowMs) {
        if (backingOff.isEmpty()) {
            return Long.MAX_VALUE;
        }
        long dueMs = Long.MAX_VALUE;
        for (FetchPartition partition : backingOff.toArray(FetchPartition[]::new)) {
            if (partition.notBeforeMs <= nowMs) {
                place(partition, nowMs);
            } else {
                dueMs = Math.min(dueMs, partition.notBeforeMs - nowMs);
            }
        }
        return dueMs;
    }
}
