package dev.millrace.mirror.refused;

import dev.millrace.mirror.config.RefusalPolicy;
import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.refused.RefusedRecordSearch.End;
import dev.millrace.mirror.refused.SearchProgress.Commit;
import dev.millrace.mirror.refused.SearchProgress.Snapshot;
import dev.millrace.mirror.resume.PartitionStarts;
import dev.millrace.mirror.status.MirrorObserver;
import dev.millrace.mirror.status.StallCause;
import dev.millrace.mirror.status.ThreadCounters;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The partitions of a member in which a {@link RefusedRecordSearch} runs, and those that the policy has stopped. Each
 * search begins when all records sent before have their outcome; a few run at a time.
 *
 * <p><b>Threads:</b> the member's thread.
 */
public final class RefusedRecordSearches {
    private static final Logger LOG = LoggerFactory.getLogger(RefusedRecordSearches.class);
    private static final int THREADS = 8;
    private static final long NO_TIMESTAMP = -1;

    private final Consumer<?, ?> consumer;
    private final Optional<RefusedRecordSearch.Context> context;
    private final PartitionStarts.Metadata metadata;
    private final GoOn goOn;
    private final Map<TopicPartition, Running> owned = new HashMap<>();
    /** The member no longer reads these: a search that is added for one does not begin. */
    private final Set<TopicPartition> ending = new HashSet<>();
    /** Searches that were given up while they ran. */
    private final List<RefusedRecordSearch> leaving = new ArrayList<>();

    private ExecutorService threads;

    /** Resumes the usual copying. */
    public interface GoOn {
        /**
         * Begins to copy there.
         *
         * @param areKnown whether the target expects this sequence next; otherwise it is to be asked
         */
        void goOn(TopicPartition partition, SourcePositions.Start from, ResumePoint numbers, boolean areKnown);
    }

    private static final class Running {
        private final RefusedRecordSearch copy;
        private boolean isStarted;
        private Commit committing;
        private long counted;
        private long countedBytes;

        Running(RefusedRecordSearch copy) {
            this.copy = copy;
        }

        boolean isAwaited() {
            return isStarted && copy.endOrNull() == null;
        }
    }

    /** @param context empty if any refused record stops the mirror */
    public RefusedRecordSearches(
            Consumer<?, ?> consumer,
            Optional<RefusedRecordSearch.Context> context,
            PartitionStarts.Metadata metadata,
            GoOn goOn) {
        this.consumer = consumer;
        this.context = context;
        this.metadata = metadata;
        this.goOn = goOn;
    }

    /** Returns whether a refused record of this topic does not stop the mirror. */
    public boolean areFor(String topic) {
        return context.isPresent() && context.get().refused().policies().of(topic) != RefusalPolicy.STOP;
    }

    public void add(RefusedRecordSearch.Task task) {
        LOG.info(
                "{}: the target has refused something from offset {} on; copying up to {} with care",
                task.partition(),
                task.start().offset(),
                task.until());
        RefusedRecordSearch copy = new RefusedRecordSearch(task, context.orElseThrow());
        if (ending.contains(task.partition())) {
            copy.stop();
        }
        owned.put(task.partition(), new Running(copy));
    }

    /**
     * Takes each search a step further; does not block.
     *
     * @param isFree whether all records of the partition that others sent have their outcome
     * @param counters of the records that were written
     * @param observer is told how far each partition is
     */
    public void advance(Predicate<TopicPartition> isFree, ThreadCounters counters, MirrorObserver observer) {
        leaving.removeIf(copy -> copy.endOrNull() != null);
        for (Map.Entry<TopicPartition, Running> entry : List.copyOf(owned.entrySet())) {
            Running next = entry.getValue();
            if (!next.isStarted && !next.copy.isStopped() && isSettled(entry.getKey()) && isFree.test(entry.getKey())) {
                next.isStarted = true;
                start(next.copy);
            }
            count(entry.getKey(), next, counters, observer);
            commit(entry.getKey(), next);
            onEnd(entry.getKey(), next);
        }
    }

    private void start(RefusedRecordSearch copy) {
        if (threads == null) {
            threads = Executors.newFixedThreadPool(THREADS, work -> {
                Thread thread = new Thread(() -> runWithReader(work), "mirror-careful");
                thread.setDaemon(true);
                return thread;
            });
        }
        try {
            threads.execute(copy);
        } catch (RejectedExecutionException e) {
            copy.abandon();
        }
    }

    private void runWithReader(Runnable work) {
        try {
            work.run();
        } finally {
            context.orElseThrow().readers().closeOfThread();
        }
    }

    private static void count(TopicPartition partition, Running of, ThreadCounters counters, MirrorObserver observer) {
        Snapshot progress = of.copy.progress().now();
        long more = progress.written() - of.counted;
        if (more > 0) {
            counters.addSent(more, progress.bytes() - of.countedBytes);
            counters.addAcked(more);
            counters.of(partition).onAcked(more, progress.bytes() - of.countedBytes, NO_TIMESTAMP, 0);
            of.counted = progress.written();
            of.countedBytes = progress.bytes();
            observer.onAcknowledged(partition, progress.position().offset());
        }
    }

    private void commit(TopicPartition partition, Running of) {
        Commit wanted = of.copy.progress().commitOrNull();
        if (wanted == null || of.committing != null) {
            return;
        }
        of.committing = wanted;
        consumer.commitAsync(Map.of(partition, position(of.copy, wanted.progress())), (unused, failure) -> {
            of.committing = null;
            if (failure == null) {
                wanted.done().complete(null);
            } else {
                LOG.debug("Could not commit the position of {}; will try again", partition, failure);
            }
        });
    }

    private OffsetAndMetadata position(RefusedRecordSearch copy, Snapshot progress) {
        return metadata.addTo(
                copy.task().partition(),
                progress.position(),
                copy.task().start().topicId(),
                Optional.of(progress.numbers()));
    }

    private void onEnd(TopicPartition partition, Running of) {
        End end = of.copy.endOrNull();
        if (end == End.COPIED || end == End.NUMBERS_UNKNOWN) {
            owned.remove(partition);
            Snapshot progress = of.copy.progress().now();
            goOn.goOn(
                    partition,
                    of.copy.task().start().movedTo(progress.position()).with(progress.numbers()),
                    progress.numbers(),
                    end == End.COPIED);
        }
    }

    /** Returns whether nothing more is to be read of the partition. */
    public boolean isEnding(TopicPartition partition) {
        return ending.contains(partition);
    }

    /** Returns whether no search that was given up can still write to the partition. */
    public boolean isSettled(TopicPartition partition) {
        return leaving.stream().noneMatch(copy -> copy.task().partition().equals(partition));
    }

    public Set<TopicPartition> partitions() {
        return Set.copyOf(owned.keySet());
    }

    public boolean has(TopicPartition partition) {
        return owned.containsKey(partition);
    }

    /** Returns why nothing else of the partition is copied. */
    public StallCause stall(TopicPartition partition) {
        return owned.get(partition).copy.endOrNull() == End.PARTITION_STOPPED ? StallCause.STOPPED : StallCause.REFUSED;
    }

    /** Stops the partitions' searches, and those that are added before the partitions are removed. */
    public void stop(Collection<TopicPartition> partitions) {
        ending.addAll(partitions);
        of(partitions).forEach(running -> running.copy.stop());
    }

    public boolean isSending(Collection<TopicPartition> partitions) {
        return of(partitions).stream().anyMatch(running -> running.copy.isSending());
    }

    public Set<TopicPartition> awaited(Collection<TopicPartition> partitions) {
        Set<TopicPartition> awaited = new HashSet<>();
        of(partitions).stream()
                .filter(Running::isAwaited)
                .forEach(running -> awaited.add(running.copy.task().partition()));
        return awaited;
    }

    /** Returns the partitions whose search has not ended, each with the source offset before which all is settled. */
    public Map<TopicPartition, Long> waiting() {
        Map<TopicPartition, Long> waiting = new HashMap<>();
        owned.forEach((partition, running) -> {
            if (running.copy.endOrNull() == null) {
                waiting.put(partition, running.copy.progress().now().position().offset());
            }
        });
        return waiting;
    }

    public Map<TopicPartition, OffsetAndMetadata> positions(Collection<TopicPartition> partitions) {
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        of(partitions)
                .forEach(running -> positions.put(
                        running.copy.task().partition(),
                        position(running.copy, running.copy.progress().now())));
        return positions;
    }

    public void remove(Collection<TopicPartition> partitions) {
        ending.removeAll(partitions);
        for (TopicPartition partition : partitions) {
            Running gone = owned.remove(partition);
            if (gone != null) {
                gone.copy.stop();
                if (gone.isAwaited()) {
                    leaving.add(gone.copy);
                }
            }
        }
    }

    private List<Running> of(Collection<TopicPartition> partitions) {
        return partitions.stream().filter(owned::containsKey).map(owned::get).toList();
    }

    public void close() {
        owned.values().forEach(running -> running.copy.stop());
        if (threads != null) {
            threads.shutdownNow();
        }
    }
}
