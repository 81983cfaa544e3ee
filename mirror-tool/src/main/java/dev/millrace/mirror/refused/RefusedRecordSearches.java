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
        void goOn(TopicPartition partition, SourcePositions.Start from, ResumePoint resumePoint, boolean areKnown);
    }

    private static final class Running {
        private final RefusedRecordSearch search;
        private boolean isStarted;
        private Commit committing;
        private long counted;
        private long countedBytes;

        Running(RefusedRecordSearch search) {
            this.search = search;
        }

        boolean isAwaited() {
            return isStarted && search.endOrNull() == null;
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
                "{}: the target has refused something from offset {} on; searching for it up to {}",
                task.partition(),
                task.start().offset(),
                task.until());
        RefusedRecordSearch search = new RefusedRecordSearch(task, context.orElseThrow());
        if (ending.contains(task.partition())) {
            search.stop();
        }
        owned.put(task.partition(), new Running(search));
    }

    /**
     * Takes each search a step further; does not block.
     *
     * @param isFree whether all records of the partition that others sent have their outcome
     * @param counters of the records that were written
     * @param observer is told how far each partition is
     */
    public void advance(Predicate<TopicPartition> isFree, ThreadCounters counters, MirrorObserver observer) {
        leaving.removeIf(search -> search.endOrNull() != null);
        for (Map.Entry<TopicPartition, Running> entry : List.copyOf(owned.entrySet())) {
            Running next = entry.getValue();
            if (!next.isStarted
                    && !next.search.isStopped()
                    && isSettled(entry.getKey())
                    && isFree.test(entry.getKey())) {
                next.isStarted = true;
                start(next.search);
            }
            count(entry.getKey(), next, counters, observer);
            commit(entry.getKey(), next);
            onEnd(entry.getKey(), next);
        }
    }

    private void start(RefusedRecordSearch search) {
        if (threads == null) {
            threads = Executors.newFixedThreadPool(THREADS, work -> {
                Thread thread = new Thread(() -> runWithReader(work), "mirror-search");
                thread.setDaemon(true);
                return thread;
            });
        }
        try {
            threads.execute(search);
        } catch (RejectedExecutionException e) {
            search.abandon();
        }
    }

    private void runWithReader(Runnable work) {
        try {
            work.run();
        } finally {
            context.orElseThrow().readers().closeOfThread();
        }
    }

    private static void count(
            TopicPartition partition, Running running, ThreadCounters counters, MirrorObserver observer) {
        Snapshot progress = running.search.progress().now();
        long more = progress.written() - running.counted;
        if (more > 0) {
            counters.addSent(more, progress.bytes() - running.countedBytes);
            counters.addAcked(more);
            counters.of(partition).onAcked(more, progress.bytes() - running.countedBytes, NO_TIMESTAMP, 0);
            running.counted = progress.written();
            running.countedBytes = progress.bytes();
            observer.onAcknowledged(partition, progress.position().offset());
        }
    }

    private void commit(TopicPartition partition, Running running) {
        Commit wanted = running.search.progress().commitOrNull();
        if (wanted == null || running.committing != null) {
            return;
        }
        running.committing = wanted;
        consumer.commitAsync(Map.of(partition, position(running.search, wanted.progress())), (unused, failure) -> {
            running.committing = null;
            if (failure == null) {
                wanted.done().complete(null);
            } else {
                LOG.debug("Could not commit the position of {}; will try again", partition, failure);
            }
        });
    }

    private OffsetAndMetadata position(RefusedRecordSearch search, Snapshot progress) {
        return metadata.addTo(
                search.task().partition(),
                progress.position(),
                search.task().start().topicId(),
                Optional.of(progress.resumePoint()));
    }

    private void onEnd(TopicPartition partition, Running running) {
        End end = running.search.endOrNull();
        if (end == End.COPIED || end == End.SEQUENCE_UNKNOWN) {
            owned.remove(partition);
            Snapshot progress = running.search.progress().now();
            goOn.goOn(
                    partition,
                    running.search.task().start().movedTo(progress.position()).with(progress.resumePoint()),
                    progress.resumePoint(),
                    end == End.COPIED);
        }
    }

    /** Returns whether nothing more is to be read of the partition. */
    public boolean isEnding(TopicPartition partition) {
        return ending.contains(partition);
    }

    /** Returns whether no search that was given up can still write to the partition. */
    public boolean isSettled(TopicPartition partition) {
        return leaving.stream().noneMatch(search -> search.task().partition().equals(partition));
    }

    public Set<TopicPartition> partitions() {
        return Set.copyOf(owned.keySet());
    }

    public boolean has(TopicPartition partition) {
        return owned.containsKey(partition);
    }

    /** Returns why nothing else of the partition is copied. */
    public StallCause stall(TopicPartition partition) {
        return owned.get(partition).search.endOrNull() == End.PARTITION_STOPPED
                ? StallCause.STOPPED
                : StallCause.REFUSED;
    }

    /** Stops the partitions' searches, and those that are added before the partitions are removed. */
    public void stop(Collection<TopicPartition> partitions) {
        ending.addAll(partitions);
        of(partitions).forEach(running -> running.search.stop());
    }

    public boolean isSending(Collection<TopicPartition> partitions) {
        return of(partitions).stream().anyMatch(running -> running.search.isSending());
    }

    public Set<TopicPartition> awaited(Collection<TopicPartition> partitions) {
        Set<TopicPartition> awaited = new HashSet<>();
        of(partitions).stream()
                .filter(Running::isAwaited)
                .forEach(running -> awaited.add(running.search.task().partition()));
        return awaited;
    }

    /** Returns the partitions whose search has not ended, each with the source offset before which all is settled. */
    public Map<TopicPartition, Long> waiting() {
        Map<TopicPartition, Long> waiting = new HashMap<>();
        owned.forEach((partition, running) -> {
            if (running.search.endOrNull() == null) {
                waiting.put(
                        partition, running.search.progress().now().position().offset());
            }
        });
        return waiting;
    }

    public Map<TopicPartition, OffsetAndMetadata> positions(Collection<TopicPartition> partitions) {
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        of(partitions)
                .forEach(running -> positions.put(
                        running.search.task().partition(),
                        position(running.search, running.search.progress().now())));
        return positions;
    }

    public void remove(Collection<TopicPartition> partitions) {
        ending.removeAll(partitions);
        for (TopicPartition partition : partitions) {
            Running gone = owned.remove(partition);
            if (gone != null) {
                gone.search.stop();
                if (gone.isAwaited()) {
                    leaving.add(gone.search);
                }
            }
        }
    }

    private List<Running> of(Collection<TopicPartition> partitions) {
        return partitions.stream().filter(owned::containsKey).map(owned::get).toList();
    }

    public void close() {
        owned.values().forEach(running -> running.search.stop());
        if (threads != null) {
            threads.shutdownNow();
        }
    }
}
