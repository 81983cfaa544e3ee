package dev.millrace.mirror;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;

/**
 * Which partitions of the target records can be sent to. They are made ready in another thread, and as often as it
 * takes, so that no member of the group waits for a target that is away.
 *
 * <p><b>Threads:</b> any; the work itself is done by the executor's, one at a time.
 * <p><b>Ordering:</b> concurrent sets. A partition moves from {@code wanted} to {@code ready} only if it is still
 * wanted, and it is in one of them at most for longer than a moment.
 */
final class TargetPartitions {
    private final Preparation preparation;
    private final Consumer<Throwable> onFailure;
    private final RefusedTopics refused;
    private volatile Consumer<Set<String>> beforeReady = topics -> {};
    private final Executor executor;
    private final Set<TopicPartition> wanted = ConcurrentHashMap.newKeySet();
    private final Set<TopicPartition> ready = ConcurrentHashMap.newKeySet();
    /** Why the last attempt failed, by topic. */
    private final Map<String, String> problems = new ConcurrentHashMap<>();

    /** Makes partitions of the target ready. */
    interface Preparation {
        /**
         * Returns once the target has the partition; false if the source lacks it. Blocks while the clusters answer.
         *
         * @throws MirrorException when a cluster refuses or does not answer; see {@link MirrorException#isTemporary}
         */
        boolean ensure(TopicPartition partition);

        /** Does for many topics, in few requests, what {@link #ensure} does for one. Returns why it failed for some. */
        default Map<String, MirrorException> prepare(Collection<String> topics) {
            return Map.of();
        }

        /** What is known of the topic on the target may be wrong. */
        void forget(String topic);
    }

    /**
     * @param onFailure told what cannot be mended by trying again
     * @param refused told of topics that the target does not take because of their names
     * @param executor of one thread
     */
    TargetPartitions(Preparation preparation, Consumer<Throwable> onFailure, RefusedTopics refused, Executor executor) {
        this.preparation = preparation;
        this.onFailure = onFailure;
        this.refused = refused;
        this.executor = executor;
    }

    /** Has this called, by the executor's thread, with topics of the source before partitions of them become ready. */
    void callBeforeReady(Consumer<Set<String>> listener) {
        beforeReady = listener;
    }

    /** Has these partitions made ready; does not wait for that. */
    void prepare(Collection<TopicPartition> partitions) {
        partitions.stream().filter(partition -> !ready.contains(partition)).forEach(wanted::add);
        executor.execute(this::prepareWanted);
    }

    boolean isReady(TopicPartition partition) {
        return ready.contains(partition);
    }

    /** Topics of the source that are copied, or are to be. */
    Set<String> topics() {
        Set<String> topics = Clusters.topics(wanted);
        topics.addAll(Clusters.topics(ready)); // after the others, which move to these
        return topics;
    }

    /** The target lacks the partition, or its producer does not find it: it has to be made ready again. */
    void onMissing(TopicPartition partition) {
        if (ready.remove(partition)) {
            preparation.forget(partition.topic());
            wanted.add(partition);
        }
    }

    /** Nothing more is sent to these partitions. */
    void forget(Collection<TopicPartition> partitions) {
        partitions.forEach(partition -> {
            wanted.remove(partition);
            ready.remove(partition);
        });
    }

    /** Why the topic could not be made ready, or null. */
    String problemOrNull(String topic) {
        return problems.get(topic);
    }

    /** Tries all that is wanted, a topic that fails once. To be called by the executor's thread, about once a second. */
    void prepareWanted() {
        if (wanted.isEmpty()) {
            return;
        }
        Set<String> failed = new HashSet<>();
        Set<String> topics = new HashSet<>(Clusters.topics(wanted));
        try {
            preparation.prepare(topics).forEach((topic, failure) -> {
                failed.add(topic);
                onFailure(topic, failure);
            });
            topics.removeAll(failed);
            beforeReady.accept(topics);
        } catch (InterruptException e) {
            return; // the mirror ends
        } catch (RuntimeException | Error e) {
            onFailure.accept(e);
            return;
        }
        for (TopicPartition partition : List.copyOf(wanted)) {
            if (!failed.contains(partition.topic()) && !tryPrepare(partition)) {
                failed.add(partition.topic());
            }
        }
    }

    private void onFailure(String topic, MirrorException failure) {
        problems.put(topic, failure.getMessage());
        if (failure.isOfName()) {
            refused.onRefused(topic, failure.getMessage());
        } else if (!failure.isTemporary()) {
            onFailure.accept(failure);
        }
    }

    /** Returns false if the topic failed. */
    private boolean tryPrepare(TopicPartition partition) {
        try {
            if (preparation.ensure(partition) && wanted.remove(partition)) {
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
}
