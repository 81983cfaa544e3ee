package dev.millrace.mirror.fetch;

import dev.millrace.client.io.MonotonicClock;
import dev.millrace.client.metadata.ClusterImages;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.AuthenticationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rounds of the fetch thread: each sends a request for every session that has none outstanding, and handles what
 * has arrived.
 *
 * <p><b>Threads:</b> the fetch thread, except {@link #find}, {@link #end} and {@link #isEndCurrent}, which any thread may
 * call.
 */
public final class FetchLoop {
    private static final Logger log = LoggerFactory.getLogger(FetchLoop.class);
    /** After this time brokers have told where the logs end, and a partition at its end counts as idle. */
    private static final int FIRST_LOOK_MS = 1_000;

    private final FetchLink link;
    private final FetchSink sink;
    private final FetchSettings settings;
    private final FetchSensors sensors;
    private final ClusterImages images;
    private final MonotonicClock clock;
    private final FetchMemory memory;
    private final SourceMetadata metadata;
    private final PositionChecks checks;
    private final PartitionPlaces places;
    private final FetchAnswers answers;
    private final Map<TopicPartition, FetchPartition> partitions = new ConcurrentHashMap<>();
    private final Map<String, Integer> partitionsOfTopic = new HashMap<>();

    /** Filled by threads that release bytes. */
    private final Queue<FetchPartition> resumed = new ConcurrentLinkedQueue<>();

    private long coolAtMs;
    private int round;
    /** Until this time no leader may name a follower to read from, because a named one cannot be reached. */
    private long leadersOnlyUntilMs = Long.MIN_VALUE;

    /** Creates the loop of one fetch thread; {@code images} has the bootstrap servers. */
    public FetchLoop(
            FetchLink link,
            FetchSink sink,
            FetchSettings settings,
            ClusterImages images,
            FetchSensors sensors,
            MonotonicClock clock) {
        this.link = link;
        this.sink = sink;
        this.settings = settings;
        this.images = images;
        this.sensors = sensors;
        this.clock = clock;
        this.memory = new FetchMemory(settings.memoryBytes(), link::wakeup);
        this.metadata = new SourceMetadata(link, images, settings, clock, partitionsOfTopic::keySet);
        this.answers = new FetchAnswers(sink, memory, sensors, settings, clock, images::current);
        this.checks =
                new PositionChecks(link, images::current, settings.resetPolicy(), System::currentTimeMillis, answers);
        PartitionFailures failures = new PartitionFailures(sink, settings.retryBackoff());
        this.places = new PartitionPlaces(images::current, metadata, checks, failures, sink::maxAhead, memory.ahead());
        answers.connect(places, metadata, failures);
        metadata.setListeners(this::placeAll, failure -> sink.onFailure(null, failure));
        link.onDisconnect(this::onDisconnect);
        this.coolAtMs = clock.nowMs() + settings.cold().afterMs();
    }

    private void onDisconnect(AuthenticationException refusalOrNull, int connection) {
        metadata.request();
        BrokerFetches broker = places.brokerOrNull(connection);
        if (broker != null && isWanted(broker.hot()) && isReadAsFollower(connection)) {
            leadersOnlyUntilMs = clock.nowMs() + settings.metadata().maxAgeMs();
            leaveFollower(connection);
        }
        if (refusalOrNull != null) {
            sink.onFailure(null, refusalOrNull);
        }
    }

    /** Whether the session has something to ask. An outstanding request fails too, and the leader soon knows why. */
    private static boolean isWanted(BrokerFetches.Side side) {
        return side.session().size() > 0 && !side.isWaiting();
    }

    /** Returns the partition if it is assigned; else null. Any thread may call it. */
    FetchPartition find(TopicPartition tp) {
        return partitions.get(tp);
    }

    /** Returns the partition's end as of the last answer; empty before the first. Any thread may call it. */
    OptionalLong end(TopicPartition tp) {
        FetchPartition found = partitions.get(tp);
        long known = found == null ? -1 : found.offsets().end(settings.request().isolation());
        return known < 0 ? OptionalLong.empty() : OptionalLong.of(known);
    }

    /** Whether the partition's present or an earlier session answered within two long waits. Any thread may call it. */
    boolean isEndCurrent(TopicPartition tp) {
        FetchPartition found = partitions.get(tp);
        return found != null
                && clock.nowMs() - found.answeredMs() <= 2L * settings.cold().maxWaitMs();
    }

    /** Fetches a partition from this offset on, even if it is already assigned. */
    void assign(TopicPartition tp, long offset, OptionalInt leaderEpoch, Uuid topicId) {
        unassign(tp);
        FetchPartition partition = new FetchPartition(tp, offset, leaderEpoch.orElse(FetchPartition.NONE), released -> {
            resumed.add(released);
            link.wakeup();
        });
        partition.topicId = topicId;
        partition.lastDataMs = clock.nowMs();
        partitions.put(tp, partition);
        coolAtMs = Math.min(coolAtMs, clock.nowMs() + FIRST_LOOK_MS);
        if (partitionsOfTopic.merge(tp.topic(), 1, Integer::sum) == 1
                && images.current().topic(tp.topic()) == null) {
            metadata.requestAtOnce();
        }
        places.add(partition, clock.nowMs());
    }

    void unassign(TopicPartition tp) {
        FetchPartition partition = partitions.remove(tp);
        if (partition != null) {
            partitionsOfTopic.computeIfPresent(tp.topic(), (topic, count) -> count == 1 ? null : count - 1);
            places.remove(partition);
        }
    }

    /** Sends what can be sent, waits at most {@code maxWaitMs} for the next event, and handles it. */
    void runOnce(long maxWaitMs) {
        long nowMs = clock.nowMs();
        long waitMs = Math.min(maxWaitMs, places.placeRested(nowMs));
        for (FetchPartition partition = resumed.poll(); partition != null; partition = resumed.poll()) {
            places.place(partition, nowMs);
        }
        if (memory.ahead().takeChange()) {
            placeAll();
        }
        waitMs = Math.min(waitMs, noteCold(nowMs));
        waitMs = Math.min(waitMs, metadata.runIfDue(nowMs));
        waitMs = Math.min(waitMs, checks.runIfDue(nowMs));
        List<BrokerFetches> brokers = new ArrayList<>(places.brokers());
        Collections.rotate(brokers, round++); // so that no broker is always first when room is scarce
        for (BrokerFetches broker : brokers) {
            waitMs = Math.min(waitMs, fetchCold(broker, nowMs));
            waitMs = Math.min(waitMs, fetch(broker.hot(), nowMs));
        }
        link.poll(Math.max(0, waitMs), nowMs);
    }

    /**
     * Finds partitions that have received nothing for long or were at their end from the start. Returns milliseconds
     * until the next check.
     */
    private long noteCold(long nowMs) {
        if (nowMs >= coolAtMs) {
            coolAtMs = nowMs + Math.max(1, settings.cold().afterMs() / 2);
            places.brokers().forEach(broker -> broker.cooling().clear());
            for (FetchPartition partition : partitions.values()) {
                if (partition.side != null && !partition.cold && isIdle(partition, nowMs)) {
                    partition.side.broker().cooling().add(partition);
                }
            }
        }
        return coolAtMs - nowMs;
    }

    private boolean isIdle(FetchPartition partition, long nowMs) {
        long quietMs = nowMs - partition.lastDataMs;
        return quietMs >= settings.cold().afterMs()
                || (quietMs >= FIRST_LOOK_MS && !partition.hasBroughtData && isAtEnd(partition));
    }

    private boolean isAtEnd(FetchPartition partition) {
        long end = partition.offsets().end(settings.request().isolation());
        return end >= 0 && end <= partition.offset();
    }

    private long fetchCold(BrokerFetches broker, long nowMs) {
        BrokerFetches.Side cold = broker.cold();
        if (cold.isWaiting()) {
            return Long.MAX_VALUE;
        }
        int next = cold.session().size() + broker.cooling().size();
        if (!broker.cooling().isEmpty() && next >= settings.cold().minPartitions()) {
            Node node = images.current().node(broker.id());
            if (node != null && link.ready(cold.connection(node), nowMs)) {
                moveToCold(broker, nowMs);
            }
        }
        return fetch(cold, nowMs);
    }

    private void moveToCold(BrokerFetches broker, long nowMs) {
        for (FetchPartition partition : new ArrayList<>(broker.cooling())) {
            if (partition.side == broker.hot() && isIdle(partition, nowMs)) {
                partition.cold = true;
                places.place(partition, nowMs);
            }
        }
        broker.cooling().clear();
    }

    /** Returns milliseconds until there may be something to do. */
    private long fetch(BrokerFetches.Side side, long nowMs) {
        Node node = images.current().node(side.broker().id());
        if (side.isWaiting() || side.session().size() == 0 || node == null) {
            return Long.MAX_VALUE;
        }
        Node connection = side.connection(node);
        if (nowMs < side.notBeforeMs()) {
            return side.notBeforeMs() - nowMs;
        }
        if (!link.ready(connection, nowMs)) {
            return Math.max(1, link.pollDelayMs(connection, nowMs));
        }
        int share = memory.shareOfRequest(2 * places.brokers().size());
        int maxBytes = memory.awaitRoomForRequest(Math.min(settings.request().maxBytes(), share));
        if (maxBytes == 0) {
            return Long.MAX_VALUE;
        }
        int minBytes = side.isCold() ? 1 : settings.request().minBytes();
        int maxWaitMs = side.maxWaitMs(settings, places.areSomeAway());
        memory.reserve(maxBytes);
        side.onRequest(maxBytes);
        FetchRound round = side.session().next();
        link.fetch(
                new FetchCall(connection, round, maxWaitMs, minBytes, maxBytes, nowMs < leadersOnlyUntilMs),
                side.session(),
                new Answer(side),
                nowMs);
        return Long.MAX_VALUE;
    }

    /** Places all partitions where they belong now. */
    void placeAll() {
        long nowMs = clock.nowMs();
        Collection<FetchPartition> all = partitions.values();
        all.forEach(partition -> places.place(partition, nowMs));
    }

    private boolean isReadAsFollower(int broker) {
        return partitions.values().stream().anyMatch(partition -> partition.readReplica == broker);
    }

    /** Moves partitions fetched from this nearby follower back to their leaders. */
    private void leaveFollower(int broker) {
        for (FetchPartition partition : partitions.values()) {
            if (partition.readReplica == broker) {
                partition.readReplica = FetchPartition.NONE;
                places.place(partition, clock.nowMs());
            }
        }
    }

    void close() {
        link.close();
    }

    private final class Answer implements FetchLink.FetchHandler {
        private final BrokerFetches.Side side;

        Answer(BrokerFetches.Side side) {
            this.side = side;
        }

        @Override
        public void onAnswer(FetchAnswer answer) {
            side.onAnswer(memory);
            side.onSuccess(clock.nowMs());
            side.session().onAnswer(answer.sessionId(), answer.partitionsWithBytes());
            if (!answer.leaders().isEmpty()) {
                images.applyLeaderHints(answer.leaders(), answer.endpoints());
            }
            FetchMemory.Response response = memory.new Response(answer.size());
            boolean hasBytes = false;
            for (PartitionAnswer partition : answer.partitions()) {
                hasBytes |= answers.take(side, partition, response);
            }
            response.drop();
            if (hasBytes) {
                side.shortenWait();
            } else {
                side.lengthenWait();
            }
            sensors.onAnswer(answer.latencyMs());
        }

        @Override
        public void onFailure(KafkaException failure) {
            log.debug("Fetching from broker {} failed: {}", side.broker().id(), failure.toString());
            boolean isRetriable = PartitionFailures.mayPass(failure);
            long pauseMs = settings.retryBackoff().delayMs(isRetriable ? side.failures() : side.failures() + 1);
            side.onFailure(memory, clock.nowMs() + pauseMs);
            metadata.request();
            leaveFollower(side.broker().id());
            if (!isRetriable) {
                sink.onFailure(null, failure);
            }
        }
    }
}
