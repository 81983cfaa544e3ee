package dev.millrace.mirror.resume;

import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import dev.millrace.mirror.progress.CommitParts;
import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.resume.ExactResume.Search;
import dev.millrace.mirror.resume.ExactResume.Start;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The partitions that a member owns and does not copy yet. Each waits for three things: its former copy in this process
 * has ended; {@link ExactResume} has found out where to begin; and what must be committed first is committed: a new
 * epoch, records to leave out, or where it goes on after another topic had the name. Each begins independently of the
 * others.
 *
 * <p><b>Threads:</b> the member's thread; others fill {@code found}.
 */
public final class PartitionStarts {
    private static final Logger LOG = LoggerFactory.getLogger(PartitionStarts.class);

    private final Consumer<?, ?> consumer;
    private final Optional<Finder> finder;
    private final Metadata metadata;
    private final Predicate<TopicPartition> isNews;
    private final Begin begin;
    private final Map<TopicPartition, Waiting> waiting = new HashMap<>();
    private final Set<TopicPartition> stopped = new HashSet<>();
    private final Queue<Runnable> found = new ConcurrentLinkedQueue<>();
    private boolean isCommitting;
    /** Set after a failed commit: one partition whose topic is gone would prevent the commit of all others. */
    private boolean commitsSingly;

    /** Finds out where to begin. */
    public interface Finder extends AutoCloseable {
        /** Returns at once; reports each result to its search, in any thread. */
        void find(List<Search> searches);

        /** Returns whether the source has not answered yet what the start depends on. */
        default boolean isWaitingForSource(TopicPartition partition) {
            return false;
        }

        /** Ends the searches. */
        @Override
        default void close() {}
    }

    /** Adds to a position the metadata that is committed with it. */
    public interface Metadata {
        OffsetAndMetadata addTo(
                TopicPartition partition, OffsetAndMetadata position, Uuid topicId, Optional<ResumePoint> resumePoint);
    }

    /** Begins to copy. */
    public interface Begin {
        void begin(TopicPartition partition, SourcePositions.Start from, Optional<ResumePoint> resumePoint);
    }

    private static final class Waiting {
        private final SourcePositions.Start from;
        private boolean isAsked;
        private Start toCommit;
        private int commits;

        Waiting(SourcePositions.Start from) {
            this.from = from;
        }
    }

    /**
     * @param finder without it, partitions begin at once, where they are added, without producer id, epoch and sequence
     * @param isNews whether the metadata of a partition's position differs from what is committed, though the position
     *     does not
     */
    public PartitionStarts(
            Consumer<?, ?> consumer,
            Optional<Finder> finder,
            Metadata metadata,
            Predicate<TopicPartition> isNews,
            Begin begin) {
        this.isNews = isNews;
        this.consumer = consumer;
        this.finder = finder;
        this.metadata = metadata;
        this.begin = begin;
    }

    public void add(Map<TopicPartition, SourcePositions.Start> partitions) {
        partitions.forEach((partition, from) -> {
            if (finder.isEmpty()) {
                begin.begin(partition, from, Optional.empty());
            } else {
                waiting.put(partition, new Waiting(from));
            }
        });
    }

    public void remove(Collection<TopicPartition> partitions) {
        waiting.keySet().removeAll(partitions);
        stopped.removeAll(partitions);
    }

    public boolean isEmpty() {
        return waiting.isEmpty();
    }

    public Set<TopicPartition> partitions() {
        return waiting.keySet();
    }

    /** Returns the partitions that do not begin, because the target has lost records of them. */
    public Set<TopicPartition> stopped() {
        return stopped;
    }

    /** Returns a copy of the partitions that wait for the target, with where they are to begin. */
    public Map<TopicPartition, Long> waitingForTarget() {
        Map<TopicPartition, Long> positions = new HashMap<>();
        waiting.forEach((partition, next) -> {
            if (next.toCommit == null && !finder.orElseThrow().isWaitingForSource(partition)) {
                positions.put(partition, next.from.offset());
            }
        });
        return positions;
    }

    /**
     * Takes each partition a step further if possible; does not block.
     *
     * @param isFree whether no former copy of the partition has records without an outcome, and the target's topic is
     *     known
     */
    public void advance(Predicate<TopicPartition> isFree) {
        List<Search> searches = new ArrayList<>();
        waiting.forEach((partition, next) -> {
            if (!next.isAsked && isFree.test(partition)) {
                next.isAsked = true;
                searches.add(new Search(partition, next.from, outcome(partition, next)));
            }
        });
        if (!searches.isEmpty()) {
            finder.orElseThrow().find(searches);
        }
        for (Runnable next = found.poll(); next != null; next = found.poll()) {
            next.run();
        }
        commitNewEpochs();
    }

    private ExactResume.Outcome outcome(TopicPartition partition, Waiting waiter) {
        return new ExactResume.Outcome() {
            @Override
            public void accept(Start start) {
                found.add(() -> onFound(partition, waiter, start));
            }

            @Override
            public void onStopped() {
                found.add(() -> stop(partition, waiter));
            }
        };
    }

    private void stop(TopicPartition partition, Waiting waiter) {
        if (isStillWaiting(partition, waiter)) {
            waiting.remove(partition);
            stopped.add(partition);
        }
    }

    private void onFound(TopicPartition partition, Waiting waiter, Start start) {
        if (!isStillWaiting(partition, waiter)) {
            return; // given up meanwhile
        }
        // The next record may come late, and by then the target may have forgotten what is left out now.
        boolean leavesOut = start.from().offset() != waiter.from.offset();
        if (start.isNew() || leavesOut || waiter.from.isRestored() || isNews.test(partition)) {
            waiter.toCommit = start;
        } else {
            begin(partition, waiter, start);
        }
    }

    private void commitNewEpochs() {
        if (isCommitting) {
            return;
        }
        Map<TopicPartition, Waiting> committing = new HashMap<>();
        waiting.entrySet().stream()
                .filter(next -> next.getValue().toCommit != null)
                .sorted(Comparator.comparingInt(next -> next.getValue().commits))
                .limit(commitsSingly ? 1 : CommitParts.MAX_POSITIONS)
                .forEach(next -> committing.put(next.getKey(), next.getValue()));
        if (!committing.isEmpty()) {
            commit(committing);
        }
    }

    private void commit(Map<TopicPartition, Waiting> committing) {
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        committing.forEach((partition, next) -> {
            next.commits++;
            positions.put(
                    partition,
                    metadata.addTo(
                            partition,
                            next.toCommit.from(),
                            next.from.topicId(),
                            Optional.of(next.toCommit.resumePoint())));
        });
        isCommitting = true;
        consumer.commitAsync(positions, (unused, failure) -> {
            isCommitting = false;
            commitsSingly = failure != null;
            if (failure != null) {
                LOG.debug("Could not commit the numbers of {}; will try again", positions.keySet(), failure);
                return;
            }
            committing.forEach((partition, next) -> {
                if (isStillWaiting(partition, next)) {
                    begin(partition, next, next.toCommit);
                }
            });
        });
    }

    @SuppressWarnings("ReferenceEquality") // it may have been given up and assigned again
    private boolean isStillWaiting(TopicPartition partition, Waiting waiter) {
        return waiting.get(partition) == waiter;
    }

    private void begin(TopicPartition partition, Waiting waiter, Start start) {
        waiting.remove(partition);
        begin.begin(partition, waiter.from.movedTo(start.from()), Optional.of(start.resumePoint()));
    }
}
