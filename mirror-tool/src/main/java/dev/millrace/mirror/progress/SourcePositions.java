package dev.millrace.mirror.progress;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.fetch.ResetPolicy;
import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.NoOffsetForPartitionException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides where a member begins to read each of its partitions. Progress belongs to a topic's id: if a topic was
 * deleted and created again, the offset committed for the old one means nothing, and the new one is read from offset 0.
 *
 * <p><b>Threads:</b> that of the consumer.
 */
public final class SourcePositions {
    private static final Logger LOG = LoggerFactory.getLogger(SourcePositions.class);
    /** A member does not poll while it asks, and may have a transaction open. */
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(5);

    private final Consumer<?, ?> consumer;
    private final Committed group;
    private final Function<String, ResetPolicy> placeOf;
    private final ResetPolicy policy;
    private final TopicIdentities identities;
    /** Partitions that {@link FirstStart} has left to the members. */
    private final Set<TopicPartition> unplacedAtFirstStart;
    /** Where the member's partitions began, with the ids of their topics as soon as these are known. */
    private final Map<TopicPartition, Start> begun = new HashMap<>();

    /**
     * Progress in topics whose names other topics have taken, by topic id. The newer id may really have been the older
     * one, named by a broker that lags for long; then the partition continues from this progress.
     */
    private final Map<TopicPartition, Map<Uuid, Start>> progressInReplaced = new HashMap<>();

    /** Reads and writes what the group has committed. */
    interface Committed {
        /** Returns an empty value for a partition without a position, and no entry for one not known now. May block. */
        Map<TopicPartition, Optional<OffsetAndMetadata>> of(Set<TopicPartition> partitions);

        /** Commits where new partitions begin, and returns those that are committed; may block. */
        Set<TopicPartition> commit(Map<TopicPartition, Start> starts);
    }

    /**
     * Where a partition begins.
     *
     * @param offset of the first record to read
     * @param leaderEpoch of the record before it, if known
     * @param topicId zero if unknown
     * @param isNew whether nothing of it has been copied yet; then offset 0 means where its log begins
     * @param resumePoint producer id, epoch and sequence that were committed with the offset
     * @param isRestored whether it was reached before another topic had the name; progress in that topic may have been
     *     committed since
     */
    public record Start(
            long offset,
            Optional<Integer> leaderEpoch,
            Uuid topicId,
            boolean isNew,
            Optional<ResumePoint> resumePoint,
            boolean isRestored) {
        public Start(long offset, Optional<Integer> leaderEpoch, Uuid topicId, boolean isNew) {
            this(offset, leaderEpoch, topicId, isNew, Optional.empty(), false);
        }

        /** Whether the offset 0 means where the log begins: the source may already have deleted the first records. */
        public boolean isWhereTheLogBegins() {
            return isNew && offset == 0;
        }

        /** Returns a start further on in the same topic. */
        public Start movedTo(OffsetAndMetadata position) {
            return new Start(position.offset(), position.leaderEpoch(), topicId, isNew, resumePoint, isRestored);
        }

        /** Returns the same start, at which the next record has this producer id, epoch and sequence. */
        public Start with(ResumePoint known) {
            return new Start(offset, leaderEpoch, topicId, isNew, Optional.of(known), isRestored);
        }

        /** Returns the same start in the topic with this id. */
        Start in(Uuid topic) {
            return new Start(offset, leaderEpoch, topic, isNew, resumePoint, isRestored);
        }

        private Start restored() {
            return new Start(offset, leaderEpoch, topicId, isNew, resumePoint, true);
        }
    }

    /**
     * @param consumer of the source
     * @param placeOf where the partitions of a topic begin that were there when the mirror first started
     * @param policy the user's {@code auto.offset.reset}, for positions that are outside the log
     * @param unplacedAtFirstStart partitions without a position that were there when the mirror first started; those
     *     that have got a position are removed
     */
    public SourcePositions(
            Consumer<?, ?> consumer,
            Committed group,
            Function<String, ResetPolicy> placeOf,
            ResetPolicy policy,
            TopicIdentities identities,
            Set<TopicPartition> unplacedAtFirstStart) {
        this.consumer = consumer;
        this.group = group;
        this.placeOf = placeOf;
        this.policy = policy;
        this.identities = identities;
        this.unplacedAtFirstStart = unplacedAtFirstStart;
    }

    /**
     * Returns where assigned partitions begin: at the committed position; otherwise where {@code placeOf} says if they
     * existed when the mirror first started, and at their first record if they appeared later.
     *
     * <p>Leaves out partitions whose start is not known yet, such as those without a leader; the caller tries again.
     *
     * @param gone those of the partitions that the source no longer has; if one comes back, it begins at 0, and one
     *     that is deleted after this question begins where {@code placeOf} says
     */
    public Map<TopicPartition, Start> find(Collection<TopicPartition> partitions, Set<TopicPartition> gone) {
        Map<String, Uuid> current = identities.ask(Clusters.topics(partitions));
        Map<TopicPartition, Optional<OffsetAndMetadata>> committed = group.of(Set.copyOf(partitions));
        Map<TopicPartition, Start> starts = new HashMap<>();
        Map<TopicPartition, Uuid> before = new HashMap<>();
        Set<TopicPartition> uncommitted = new HashSet<>();
        committed.forEach((partition, offset) -> {
            if (offset.isEmpty()) {
                uncommitted.add(partition);
                return;
            }
            unplacedAtFirstStart.remove(partition);
            Start known = startAt(offset.get());
            // Keeps the known id of a topic that is not described now, to recognise the same topic if it comes back.
            Uuid id = current.getOrDefault(partition.topic(), known.topicId());
            if (TopicIdentities.differ(known.topicId(), id)) {
                before.put(partition, known.topicId());
                starts.put(partition, replace(partition, known, id));
            } else {
                starts.put(partition, known.in(id));
            }
        });
        starts.putAll(starts(uncommitted, gone, current));
        begun.putAll(starts);
        tellOfReplaced(before);
        return starts;
    }

    private static Start startAt(OffsetAndMetadata committed) {
        CommitMetadata metadata = CommitMetadata.of(committed);
        return new Start(
                committed.offset(), committed.leaderEpoch(), metadata.topicId(), false, metadata.resume(), false);
    }

    /** Returns where a partition begins whose topic now has the id {@code next}; keeps the earlier topic's progress. */
    private Start replace(TopicPartition partition, Start before, Uuid next) {
        Map<Uuid, Start> known = progressInReplaced.computeIfAbsent(partition, unused -> new HashMap<>());
        known.put(before.topicId(), before);
        Start reached = known.get(next);
        return reached == null ? new Start(0, Optional.empty(), next, false) : reached.restored();
    }

    private Map<TopicPartition, Start> starts(
            Collection<TopicPartition> uncommitted, Set<TopicPartition> gone, Map<String, Uuid> ids) {
        Map<TopicPartition, Start> starts = new HashMap<>();
        Set<TopicPartition> asked = new HashSet<>();
        for (TopicPartition partition : uncommitted) {
            if (gone.contains(partition) || hasAppearedLater(partition)) {
                starts.put(partition, newStart(partition, 0, ids));
            } else {
                asked.add(partition);
            }
        }
        if (!asked.isEmpty()) {
            starts.putAll(place(asked, ids));
        }
        return starts;
    }

    /** A start like {@code latest} skips what existed before the mirror; all records of such a partition are newer. */
    private boolean hasAppearedLater(TopicPartition partition) {
        return placeOf.apply(partition.topic()).isAllowed() && !unplacedAtFirstStart.contains(partition);
    }

    /** Begins with partitions that the source has placed and the group has committed. */
    private Map<TopicPartition, Start> place(Set<TopicPartition> partitions, Map<String, Uuid> ids) {
        Map<TopicPartition, Start> placed = new HashMap<>();
        try {
            Map<ResetPolicy, List<TopicPartition>> ofStarts =
                    partitions.stream().collect(Collectors.groupingBy(partition -> placeOf.apply(partition.topic())));
            ofStarts.forEach((start, same) -> {
                Collection<TopicPartition> led = start.isAllowed() ? led(same) : same;
                if (!led.isEmpty()) {
                    offsets(led, start)
                            .forEach((partition, offset) -> placed.put(partition, newStart(partition, offset, ids)));
                }
            });
        } catch (RetriableException e) {
            LOG.debug("The source does not place {}", partitions, e);
            placed.clear(); // If only some were committed, the next start would not be the first one for the others.
        }
        placed.keySet().retainAll(group.commit(placed)); // Otherwise a later process would begin with the first record.
        unplacedAtFirstStart.removeAll(placed.keySet());
        return placed;
    }

    /** Returns the partitions that have a leader: one without would hold up the answer for the others. */
    private Set<TopicPartition> led(Collection<TopicPartition> partitions) {
        Map<String, List<PartitionInfo>> topics = consumer.listTopics(ANSWER_TIMEOUT);
        return partitions.stream()
                .filter(partition -> topics.getOrDefault(partition.topic(), List.of()).stream()
                        .anyMatch(info -> info.partition() == partition.partition() && info.leader() != null))
                .collect(Collectors.toSet());
    }

    private static Start newStart(TopicPartition partition, long offset, Map<String, Uuid> ids) {
        return new Start(offset, Optional.empty(), ids.getOrDefault(partition.topic(), Uuid.ZERO_UUID), true);
    }

    /** Returns positions for partitions of which nothing is to be read. */
    public Map<TopicPartition, Start> nowhere(Collection<TopicPartition> partitions) {
        return partitions.stream()
                .collect(Collectors.toMap(
                        partition -> partition, partition -> new Start(0, Optional.empty(), Uuid.ZERO_UUID, true)));
    }

    /**
     * Returns where {@code auto.offset.reset} puts partitions now.
     *
     * @throws RetriableException the source does not answer for all of them
     * @throws NoOffsetForPartitionException if that is nowhere
     */
    Map<TopicPartition, Long> resets(Collection<TopicPartition> partitions) {
        return offsets(partitions, policy);
    }

    private Map<TopicPartition, Long> offsets(Collection<TopicPartition> partitions, ResetPolicy where) {
        if (!where.isAllowed()) {
            throw new NoOffsetForPartitionException(Set.copyOf(partitions));
        }
        if (where.isEarliest()) {
            return consumer.beginningOffsets(partitions, ANSWER_TIMEOUT);
        }
        Map<TopicPartition, Long> offsets = new HashMap<>(consumer.endOffsets(partitions, ANSWER_TIMEOUT));
        if (where.isByTime()) {
            long timestamp = where.timestampAt(System.currentTimeMillis());
            Map<TopicPartition, Long> wanted =
                    partitions.stream().collect(Collectors.toMap(partition -> partition, partition -> timestamp));
            for (Map.Entry<TopicPartition, OffsetAndTimestamp> found :
                    consumer.offsetsForTimes(wanted, ANSWER_TIMEOUT).entrySet()) {
                if (found.getValue() != null) { // null: no record is that recent
                    offsets.put(found.getKey(), found.getValue().offset());
                }
            }
        }
        return offsets;
    }

    /**
     * Returns where partitions continue whose positions are outside their logs: where the log begins if that is later,
     * otherwise as {@link #resets}. Throws the same exceptions.
     */
    Map<TopicPartition, Long> resetsOf(Map<TopicPartition, Long> outside) {
        if (!policy.isAllowed() || policy.isEarliest()) {
            return resets(outside.keySet());
        }
        Map<TopicPartition, Long> targets = new HashMap<>(consumer.beginningOffsets(outside.keySet(), ANSWER_TIMEOUT));
        targets.entrySet().removeIf(start -> start.getValue() < outside.get(start.getKey()));
        Set<TopicPartition> others = new HashSet<>(outside.keySet());
        others.removeAll(targets.keySet());
        if (!others.isEmpty()) {
            targets.putAll(resets(others));
        }
        return targets;
    }

    /** Returns the partitions whose topic has a different id than at their start, as far as the source has told. */
    public Set<TopicPartition> replaced(Collection<TopicPartition> partitions) {
        learnIds(partitions);
        return partitions.stream()
                .filter(partition -> begun.containsKey(partition)
                        && TopicIdentities.differ(begun.get(partition).topicId(), identities.of(partition.topic())))
                .collect(Collectors.toSet());
    }

    /** The first id that becomes known for a topic is that of the topic being read, as in the fetcher. */
    private void learnIds(Collection<TopicPartition> partitions) {
        for (TopicPartition partition : partitions) {
            begun.computeIfPresent(
                    partition,
                    (same, start) -> start.topicId().equals(Uuid.ZERO_UUID)
                            ? start.in(identities.of(partition.topic()))
                            : start);
        }
    }

    /** Does the same as {@link #replaced} after asking the source. */
    public Set<TopicPartition> askForReplaced(Collection<TopicPartition> partitions) {
        identities.ask(Clusters.topics(partitions));
        return replaced(partitions);
    }

    /**
     * Returns where {@link #replaced} partitions begin, and logs them.
     *
     * @param progress in the topics that had their names until now, as it would be committed; some partitions may have
     *     none
     */
    public Map<TopicPartition, Start> beginAnew(
            Collection<TopicPartition> partitions, Map<TopicPartition, OffsetAndMetadata> progress) {
        Map<TopicPartition, Uuid> before = new HashMap<>();
        Map<TopicPartition, Start> starts = new HashMap<>();
        for (TopicPartition partition : partitions) {
            Start left = begun.get(partition);
            before.put(partition, left.topicId());
            OffsetAndMetadata copied = progress.get(partition);
            Start reached = copied == null ? left : startAt(copied).in(left.topicId());
            starts.put(partition, replace(partition, reached, identities.of(partition.topic())));
        }
        begun.putAll(starts);
        tellOfReplaced(before);
        return starts;
    }

    /**
     * Returns where partitions begin when the target has lost their copies; their producer ids, epochs and sequences no
     * longer mean anything.
     *
     * @param offsets of the source
     */
    public Map<TopicPartition, Start> beginAt(Map<TopicPartition, OffsetAndMetadata> offsets) {
        Map<TopicPartition, Start> starts = new HashMap<>();
        offsets.forEach((partition, offset) -> starts.put(
                partition,
                new Start(
                        offset.offset(),
                        offset.leaderEpoch(),
                        begun.get(partition).topicId(),
                        begun.get(partition).isNew() && begun.get(partition).offset() == offset.offset())));
        begun.putAll(starts);
        return starts;
    }

    /** Returns where the partition began in this process. */
    public Start begun(TopicPartition partition) {
        return begun.get(partition);
    }

    /**
     * Returns the offsets of the first records that the source has.
     *
     * @throws RetriableException the source does not answer for all of them
     */
    public Map<TopicPartition, Long> firstOffsets(Collection<TopicPartition> partitions) {
        return consumer.beginningOffsets(partitions, ANSWER_TIMEOUT);
    }

    /** @param before the id that the topic of each had */
    private void tellOfReplaced(Map<TopicPartition, Uuid> before) {
        identities.onReplaced(before.size());
        for (String topic : new TreeSet<>(Clusters.topics(before.keySet()))) {
            Map<Integer, Long> offsets = new TreeMap<>();
            before.keySet().stream()
                    .filter(partition -> partition.topic().equals(topic))
                    .forEach(partition -> offsets.put(
                            partition.partition(), begun.get(partition).offset()));
            TopicPartition first =
                    new TopicPartition(topic, offsets.keySet().iterator().next());
            LOG.warn(
                    "Topic {} was deleted and created anew on the source (its id was {}, and is {}); the new one is"
                            + " mirrored from these offsets of its partitions: {}. The progress in the former one is not"
                            + " used",
                    topic,
                    before.get(first),
                    begun.get(first).topicId(),
                    offsets);
        }
    }
}
