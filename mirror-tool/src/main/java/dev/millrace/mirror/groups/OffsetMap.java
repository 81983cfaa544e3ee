package dev.millrace.mirror.groups;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.groups.OffsetMapTopic.Kept;
import dev.millrace.mirror.offsets.OffsetRuns;
import dev.millrace.mirror.pass.AckedRuns;
import dev.millrace.mirror.progress.CopiedOffsets;
import dev.millrace.mirror.progress.TopicIdentities;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows where the records of all partitions are that this process copies, and keeps that in an {@link OffsetMapTopic}:
 * it loads what a former owner knew after the partition is assigned, again if that owner may write late, and writes what
 * is new every few seconds. What a kill loses only makes translations less exact.
 *
 * <p><b>Threads:</b> any thread calls the methods of {@link #ofMember} and of what it returns; one calls the rest, which
 * blocks while clusters answer.
 * <p><b>Ordering:</b> that of {@link PartitionOffsets} and of concurrent maps.
 */
final class OffsetMap {
    private static final Logger LOG = LoggerFactory.getLogger(OffsetMap.class);
    /** A former owner writes what it has left within that time. */
    private static final long LOAD_DELAY_NANOS = Duration.ofSeconds(2).toNanos();
    /** A former owner that could not write to the target is waited for this long, from the first load on. */
    private static final long LATE_WRITE_NANOS = Duration.ofSeconds(20).toNanos();

    private static final long WRITE_INTERVAL_NANOS = Duration.ofSeconds(5).toNanos();
    /** Below this, dropping runs saves nothing. */
    private static final int MANY_RUNS = 1_000;

    private final OffsetMapTopic topic;
    private final Admin source;
    private final CopiesOnTarget copies;
    private final BooleanSupplier isStopping;
    private final Map<TopicPartition, PartitionOffsets> owned = new ConcurrentHashMap<>();
    /** Partitions that were given up, to be written a last time; while the mirror stops, groups may need them, too. */
    private final Map<TopicPartition, PartitionOffsets> left = new ConcurrentHashMap<>();

    private long lastDueNanos = System.nanoTime();

    /** @param isStopping whether the members give up what they have because the mirror stops */
    OffsetMap(OffsetMapTopic topic, Admin source, CopiesOnTarget copies, BooleanSupplier isStopping) {
        this.topic = topic;
        this.source = source;
        this.copies = copies;
        this.isStopping = isStopping;
    }

    // ---- members ----

    /** Returns the receiver of one member. */
    CopiedOffsets ofMember() {
        return new OfMember();
    }

    private final class OfMember implements CopiedOffsets {
        @Override
        public CopiedOffsets ofAnotherMember() {
            return new OfMember();
        }

        @Override
        public AckedRuns begin(TopicPartition partition, Uuid topicId, long position) {
            return owned.compute(
                            partition,
                            (unused, known) -> known == null || !known.topicId().equals(topicId)
                                    ? new PartitionOffsets(topicId, System.nanoTime())
                                    : known)
                    .begin(this, position);
        }

        @Override
        public void suspend(TopicPartition partition) {
            PartitionOffsets known = owned.get(partition);
            if (known != null) {
                known.end(this);
            }
        }

        @Override
        public void onCommitted(Map<TopicPartition, OffsetAndMetadata> positions) {
            positions.forEach((partition, position) -> {
                PartitionOffsets known = owned.get(partition);
                if (known != null) {
                    known.onCommitted(position.offset());
                }
            });
        }

        @Override
        public void giveUp(Collection<TopicPartition> partitions) {
            for (TopicPartition partition : partitions) {
                owned.computeIfPresent(partition, (unused, known) -> {
                    if (!known.end(this)) {
                        return known;
                    }
                    left.merge(partition, known, OffsetMap::join);
                    return null;
                });
            }
        }
    }

    /** Returns the newer one, which then knows also what the older one has not written yet. */
    private static PartitionOffsets join(PartitionOffsets older, PartitionOffsets newer) {
        boolean isOfOneTopic =
                older.topicId().equals(newer.topicId()) && !TopicIdentities.differ(older.targetId(), newer.targetId());
        if (isOfOneTopic) {
            newer.load(older.committedRuns(), older.targetId(), System.nanoTime(), false);
        }
        return newer;
    }

    // ---- keeping ----

    /** Loads and writes what is due. */
    void keep(long nowNanos) {
        Map<TopicPartition, PartitionOffsets> unloaded = new HashMap<>(owned);
        unloaded.values().removeIf(next -> next.isLoaded() || nowNanos - next.sinceNanos() < LOAD_DELAY_NANOS);
        load(unloaded, nowNanos, next -> false);
        load(left, nowNanos, next -> true);
        boolean isDue = nowNanos - lastDueNanos >= WRITE_INTERVAL_NANOS;
        try {
            anchor();
            if (isDue) {
                dropDeleted();
                loadAgain(nowNanos);
            }
        } finally { // what is known is kept, even if the clusters do not answer
            if (isDue) {
                lastDueNanos = nowNanos;
            }
            if (isDue || !left.isEmpty()) {
                write();
            }
        }
    }

    private void loadAgain(long nowNanos) {
        Map<TopicPartition, PartitionOffsets> loaded = new HashMap<>(owned);
        loaded.values().removeIf(next -> !next.isLoaded());
        load(loaded, nowNanos, next -> next.wasLoadedBefore(nowNanos - LATE_WRITE_NANOS));
    }

    private void load(
            Map<TopicPartition, PartitionOffsets> some, long nowNanos, Predicate<PartitionOffsets> isForTheLastTime) {
        Map<TopicPartition, PartitionOffsets> incomplete = new HashMap<>(some);
        incomplete.values().removeIf(PartitionOffsets::isComplete);
        if (!incomplete.isEmpty()) {
            Map<TopicPartition, Kept> kept = topic.read(incomplete::containsKey);
            Map<String, Uuid> targetIds = copies.ids(Clusters.topics(incomplete.keySet()));
            incomplete.forEach((partition, offsets) -> {
                Uuid targetId = targetIds.getOrDefault(partition.topic(), offsets.targetId());
                Kept known = kept.get(partition);
                OffsetRuns stored = known == null ? new OffsetRuns() : known.runs(offsets.topicId(), targetId);
                offsets.load(stored, targetId, nowNanos, isForTheLastTime.test(offsets));
            });
        }
    }

    /** Loads what is not complete yet, once the members have ended; returns whether there was any. */
    boolean loadLast() {
        boolean isAnyIncomplete =
                Stream.concat(owned.values().stream(), left.values().stream()).anyMatch(next -> !next.isComplete());
        load(owned, System.nanoTime(), next -> true);
        load(left, System.nanoTime(), next -> true);
        return isAnyIncomplete;
    }

    /**
     * Notes where the target ends in partitions that have nothing to copy. If the source, asked later, still ends at
     * the mirror's position, the target had nothing from there on when it was asked.
     */
    private void anchor() {
        Map<TopicPartition, Long> positions = new HashMap<>();
        owned.forEach((partition, offsets) -> {
            long position = offsets.positionWithoutAnchor();
            if (position >= 0) {
                positions.put(partition, position);
            }
        });
        if (positions.isEmpty()) {
            return;
        }
        positions.keySet().retainAll(copies.existing(positions.keySet()));
        positions.keySet().retainAll(Clusters.existing(source, positions.keySet()));
        if (!positions.isEmpty()) {
            Map<TopicPartition, Long> ends = copies.offsetsOfLed(positions.keySet(), OffsetSpec.latest());
            Clusters.offsetsOfLed(source, ends.keySet(), OffsetSpec.latest()).forEach((partition, end) -> {
                PartitionOffsets offsets = owned.get(partition);
                if (offsets != null && end.equals(positions.get(partition))) {
                    offsets.anchor(end, ends.get(partition));
                }
            });
        }
    }

    private void dropDeleted() {
        Set<TopicPartition> full = owned.entrySet().stream()
                .filter(next -> next.getValue().size() > MANY_RUNS)
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
        if (!full.isEmpty()) {
            Clusters.offsetsOfLed(source, full, OffsetSpec.earliest()).forEach((partition, start) -> {
                PartitionOffsets offsets = owned.get(partition);
                if (offsets != null) {
                    offsets.dropBefore(start);
                }
            });
        }
    }

    /** Writes what has changed. */
    void write() {
        Map<TopicPartition, PartitionOffsets> changed = new HashMap<>(left);
        changed.putAll(complete()); // also in place of what was left before it was assigned again
        changed.values().removeIf(next -> !next.takeChanged());
        Map<TopicPartition, Kept> kept = new HashMap<>();
        changed.forEach((partition, offsets) ->
                kept.put(partition, new Kept(offsets.topicId(), offsets.committedRuns(), offsets.targetId())));
        try {
            changed.keySet().removeAll(topic.write(kept));
        } finally {
            changed.values().forEach(PartitionOffsets::onNotKept);
            // The offsets of groups are written once more when all members have ended, and perhaps by no other process.
            left.values().removeIf(next -> next.isKept() && !isStopping.getAsBoolean());
            // Only what it was: the partition may be given up again just now.
            left.forEach((partition, offsets) -> {
                PartitionOffsets again = owned.get(partition);
                if (again != null && again.isComplete()) {
                    left.remove(partition, offsets);
                }
            });
        }
    }

    private Map<TopicPartition, PartitionOffsets> complete() {
        Map<TopicPartition, PartitionOffsets> complete = new HashMap<>(owned);
        complete.values().removeIf(next -> !next.isComplete());
        return complete;
    }

    /** Returns the loaded partitions that this process copies, or has copied until just now. */
    Set<TopicPartition> loaded() {
        return all().entrySet().stream()
                .filter(next -> next.getValue().isLoaded())
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
    }

    private Map<TopicPartition, PartitionOffsets> all() {
        Map<TopicPartition, PartitionOffsets> all = new HashMap<>(left);
        all.putAll(owned);
        return all;
    }

    /**
     * Returns what is known of these partitions. If a topic was created again on the target, nothing is known any more.
     */
    Map<TopicPartition, OffsetRuns> runs(Set<TopicPartition> partitions) {
        Map<String, Uuid> targetIds = copies.ids(Clusters.topics(partitions));
        Map<TopicPartition, OffsetRuns> runs = new HashMap<>();
        all().forEach((partition, offsets) -> {
            if (partitions.contains(partition) && offsets.isLoaded()) {
                if (offsets.forgetIfReplaced(targetIds.getOrDefault(partition.topic(), Uuid.ZERO_UUID))) {
                    LOG.info("{} was created anew on the target; groups begin at its start there", partition);
                }
                runs.put(partition, offsets.committedRuns());
            }
        });
        return runs;
    }
}
