package dev.millrace.mirror.topics;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.progress.CopiedTopics;
import dev.millrace.mirror.progress.TopicIdentities;
import dev.millrace.mirror.text.MirrorException;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InterruptException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tracks the partitions of the target to which records can be sent. Another thread makes them ready and retries until
 * it succeeds, so no member of the group waits for an unreachable target.
 *
 * <p>A partition that has been partly copied is made ready only in the topic that has the copy ({@link CopiedTopics}).
 * If the target no longer has that topic, the partition is lost until it is forgotten; only then is a topic created.
 *
 * <p><b>Threads:</b> any; the executor's thread does the work itself, one task at a time.
 * <p><b>Ordering:</b> concurrent sets. A partition moves from {@code wanted} to {@code ready} or {@code lost} only if
 * it is still wanted, and it is in more than one of them only for a moment.
 */
public final class TargetPartitions {
    private static final Logger LOG = LoggerFactory.getLogger(TargetPartitions.class);
    /**
     * If somebody deletes a topic and creates it again, the new one may receive its predecessor's records for this
     * long.
     */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** A broker may name the id of a former topic for this long. */
    private static final long LAG_NANOS = TimeUnit.SECONDS.toNanos(2);
    /** A refused topic is asked about this rarely, since a name that is taken is seldom freed. */
    private static final long REFUSED_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Preparation preparation;
    private final Consumer<Throwable> onFailure;
    private final RefusedTopics refused;
    private final CopiedTopics copied;
    private final LongSupplier nanoTime;
    private volatile Consumer<Set<String>> beforeReady = topics -> {};
    private final Executor executor;
    private final Set<TopicPartition> wanted = ConcurrentHashMap.newKeySet();
    private final Set<TopicPartition> ready = ConcurrentHashMap.newKeySet();
    /** Lost partitions with the ids of the topics that have their names now; zero if there is none. */
    private final Map<TopicPartition, Uuid> lost = new ConcurrentHashMap<>();
    /** Why the last attempt failed, by topic. */
    private final Map<String, String> problems = new ConcurrentHashMap<>();

    // Only the executor's thread uses these.
    private final Map<String, Long> refusedNanos = new HashMap<>();
    private final Map<String, Doubt> doubts = new HashMap<>();
    private long lookedNanos;

    /** The id that the target has named instead of the expected one, and since when. */
    private record Doubt(Uuid id, long sinceNanos) {}

    /** Makes partitions of the target ready. */
    public interface Preparation {
        /**
         * Returns once the target has the partition; false if the source lacks it, or the topic {@link #isLost}. Blocks
         * while the clusters answer.
         *
         * @throws MirrorException when a cluster refuses or does not answer; see {@link MirrorException#isTemporary}
         */
        boolean ensure(TopicPartition partition);

        /** Does for many topics, in few requests, what {@link #ensure} does for one. Returns why it failed for some. */
        public default Map<String, MirrorException> prepare(Collection<String> topics) {
            return Map.of();
        }

        /** Drops what is known of the topic on the target, because it may be wrong. */
        void forget(String topic);

        /** Returns the id of a topic of the target that is ready; zero if unknown. */
        default Uuid idOf(String topic) {
            return Uuid.ZERO_UUID;
        }

        /** Whether the target must have the topic but lacked it when it was last asked. */
        default boolean isLost(String topic) {
            return false;
        }

        /** Asks for the ids of those of the topics that the target has. Blocks until it answers. */
        Map<String, Uuid> askForIds(Collection<String> topics);
    }

    /**
     * @param onFailure notified of failures that a retry cannot fix
     * @param refused notified of topics that the target refuses because of their names
     * @param copied knows where the copies are
     * @param executor of one thread
     * @param nanoTime as {@link System#nanoTime}
     */
    public TargetPartitions(
            Preparation preparation,
            Consumer<Throwable> onFailure,
            RefusedTopics refused,
            CopiedTopics copied,
            Executor executor,
            LongSupplier nanoTime) {
        this.preparation = preparation;
        this.onFailure = onFailure;
        this.refused = refused;
        this.copied = copied;
        this.executor = executor;
        this.nanoTime = nanoTime;
        this.lookedNanos = nanoTime.getAsLong();
    }

    /** Makes the executor's thread call this with source topics before partitions of them become ready. */
    public void callBeforeReady(Consumer<Set<String>> listener) {
        beforeReady = listener;
    }

    /** Requests that these partitions be made ready; does not wait for it. */
    public void prepare(Collection<TopicPartition> partitions) {
        partitions.stream().filter(partition -> !ready.contains(partition)).forEach(wanted::add);
        executor.execute(this::prepareWanted);
    }

    public boolean isReady(TopicPartition partition) {
        return ready.contains(partition);
    }

    /** Returns the topics of the source that are or will be copied. */
    public Set<String> topics() {
        Set<String> topics = Clusters.topics(wanted);
        topics.addAll(Clusters.topics(ready)); // read last, because partitions move from the other sets to this one
        return topics;
    }

    /** The target lacks the partition, or its producer does not find it, so it must be made ready again. */
    public void onMissing(TopicPartition partition) {
        if (ready.remove(partition)) {
            preparation.forget(partition.topic());
            wanted.add(partition);
        }
    }

    /**
     * Returns the partitions whose copy the target has lost, with the ids of the topics it has instead; zero for none.
     */
    public Map<TopicPartition, Uuid> lost(Collection<TopicPartition> partitions) {
        if (lost.isEmpty()) {
            return Map.of();
        }
        Map<TopicPartition, Uuid> found = new HashMap<>(lost);
        found.keySet().retainAll(Set.copyOf(partitions));
        return found;
    }

    /** Forgets these partitions: nothing more is sent to them. */
    public void forget(Collection<TopicPartition> partitions) {
        partitions.forEach(partition -> {
            wanted.remove(partition);
            ready.remove(partition);
            lost.remove(partition);
        });
        copied.forget(partitions);
    }

    /** Returns why the topic could not be made ready, or null. */
    String problemOrNull(String topic) {
        return problems.get(topic);
    }

    /**
     * Tries everything that is wanted, a failing topic only once. The executor's thread calls it about once a second.
     */
    public void prepareWanted() {
        Set<TopicPartition> due = due(nanoTime.getAsLong());
        if (due.isEmpty()) {
            return;
        }
        Set<String> failed = new HashSet<>();
        Set<String> topics = new HashSet<>(Clusters.topics(due));
        try {
            preparation.prepare(topics).forEach((topic, failure) -> {
                failed.add(topic);
                onFailure(topic, failure);
            });
            topics.removeAll(failed);
            topics.stream().filter(preparation::isLost).toList().forEach(topic -> {
                failed.add(topic);
                lose(topic, Uuid.ZERO_UUID);
            });
            topics.removeAll(failed);
            beforeReady.accept(topics);
        } catch (InterruptException e) {
            return; // the mirror ends
        } catch (RuntimeException | Error e) {
            onFailure.accept(e);
            return;
        }
        for (TopicPartition partition : due) {
            if (!failed.contains(partition.topic()) && !tryPrepare(partition)) {
                failed.add(partition.topic());
            }
        }
    }

    private Set<TopicPartition> due(long now) {
        refusedNanos.values().removeIf(since -> now - since >= REFUSED_NANOS);
        Set<TopicPartition> due = new HashSet<>(wanted);
        due.removeIf(partition -> refusedNanos.containsKey(partition.topic()));
        return due;
    }

    private void onFailure(String topic, MirrorException failure) {
        problems.put(topic, failure.getMessage());
        if (failure.isOfName()) {
            refusedNanos.put(topic, nanoTime.getAsLong());
            refused.onRefused(topic, failure.getMessage());
        } else if (!failure.isTemporary()) {
            onFailure.accept(failure);
        }
    }

    /** Returns false if the topic failed. */
    private boolean tryPrepare(TopicPartition partition) {
        try {
            if (preparation.ensure(partition) && isWhereTheCopyIs(partition) && wanted.remove(partition)) {
                copied.onReady(partition, preparation.idOf(partition.topic()));
                ready.add(partition);
                problems.remove(partition.topic());
                refused.onTaken(partition.topic());
            }
            return true;
        } catch (MirrorException e) {
            onFailure(partition.topic(), e);
            return false;
        } catch (InterruptException e) {
            return false; // the mirror ends
        } catch (RuntimeException | Error e) {
            onFailure.accept(e);
            return false;
        }
    }

    // ---- lost copies ----

    /** Whether something of a topic was copied, so that the target must have it. */
    public boolean isCopied(String topic) {
        return copied.haveProgress(topic)
                && List.of(wanted, ready, lost.keySet()).stream()
                        .flatMap(Set::stream)
                        .anyMatch(partition -> partition.topic().equals(topic) && copied.hasProgress(partition));
    }

    private boolean isWhereTheCopyIs(TopicPartition partition) {
        String topic = partition.topic();
        Uuid now = preparation.idOf(topic);
        if (!TopicIdentities.differ(copied.idOf(partition), now)) {
            return true;
        }
        long nanos = nanoTime.getAsLong();
        Doubt doubt = doubts.get(topic);
        if (doubt == null || !doubt.id.equals(now) || nanos - doubt.sinceNanos > LOOK_NANOS) {
            doubts.put(topic, new Doubt(now, nanos));
            preparation.forget(topic); // The target is asked again, because a broker may lag.
        } else if (nanos - doubt.sinceNanos < LAG_NANOS) {
            preparation.forget(topic);
        } else {
            lose(topic, now);
        }
        return false;
    }

    /** @param now the id of the topic that the target has, zero if it has none */
    private void lose(String topic, Uuid now) {
        for (Set<TopicPartition> some : List.of(wanted, ready)) {
            some.stream()
                    .filter(partition -> partition.topic().equals(topic) && copied.hasProgress(partition))
                    .filter(partition ->
                            now.equals(Uuid.ZERO_UUID) || TopicIdentities.differ(copied.idOf(partition), now))
                    .toList()
                    .forEach(partition -> {
                        if (some.remove(partition)) {
                            lost.put(partition, now);
                        }
                    });
        }
    }

    /** Checks at intervals that the target still has the topics with the copies. The executor's thread calls it. */
    public void lookIfDue() {
        long now = nanoTime.getAsLong();
        if (now - lookedNanos < LOOK_NANOS || ready.isEmpty()) {
            return;
        }
        lookedNanos = now;
        try {
            Set<TopicPartition> looked = Set.copyOf(ready);
            Map<String, Uuid> ids = preparation.askForIds(Clusters.topics(looked));
            looked.stream()
                    .filter(ready::contains)
                    .forEach(partition -> compare(partition, ids.get(partition.topic())));
        } catch (KafkaException e) {
            LOG.debug("Could not ask the target for the ids of topics; will try again", e);
        }
    }

    private void compare(TopicPartition partition, Uuid idOrNull) {
        if (idOrNull == null || TopicIdentities.differ(copied.idOf(partition), idOrNull)) {
            onMissing(partition);
        } else {
            copied.onReady(partition, idOrNull);
        }
    }
}
