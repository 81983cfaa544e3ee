package dev.millrace.mirror.copy;

import dev.millrace.mirror.control.TopicControls;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;

/**
 * Pauses and resumes partitions at the consumer of a {@link RecordCopier}. It polls them all, but reads none that
 * belongs to a paused topic, has records that wait to be sent, is searched for refused records, or was stopped after a
 * gap.
 *
 * <p><b>Threads:</b> the member's thread.
 */
final class PausedReading {
    private final Consumer<?, ?> consumer;
    private final TopicControls controls;
    /** Partitions that {@link #pauseOnly} may resume. */
    private final Set<TopicPartition> paused = new HashSet<>();

    /** Partitions with a gap after which the mirror is not to go on. */
    private final Set<TopicPartition> stopped = new HashSet<>();

    PausedReading(Consumer<?, ?> consumer, TopicControls controls) {
        this.consumer = consumer;
        this.controls = controls;
    }

    /** Leaves partitions of paused topics unread until {@link #pauseOnly} resumes them. */
    void start(Collection<TopicPartition> partitions) {
        Set<TopicPartition> held = held(partitions);
        Set<TopicPartition> read = new HashSet<>(partitions);
        read.removeAll(held);
        consumer.resume(read);
        consumer.pause(held);
        paused.removeAll(read);
        paused.addAll(held);
    }

    private Set<TopicPartition> held(Collection<TopicPartition> partitions) {
        return partitions.stream()
                .filter(partition -> controls.of(partition.topic()).isPaused())
                .collect(Collectors.toSet());
    }

    /** Returns whether there are partitions that {@link #pauseOnly} may resume. */
    boolean hasPaused() {
        return !paused.isEmpty();
    }

    /**
     * Pauses these partitions and those of paused topics, and resumes those that it paused before and that may be read
     * again.
     *
     * @param waiting partitions not to read, because records wait to be sent
     * @param copied partitions that may be resumed; the member may have others, which begin later
     * @param searched partitions in which a search for refused records runs
     */
    void pauseOnly(Collection<TopicPartition> waiting, Set<TopicPartition> copied, Set<TopicPartition> searched) {
        Set<TopicPartition> unread = new HashSet<>(waiting);
        unread.addAll(held(copied));
        Set<TopicPartition> resumed = new HashSet<>(paused);
        resumed.removeAll(unread);
        resumed.retainAll(consumer.assignment());
        resumed.retainAll(copied);
        resumed.removeAll(stopped);
        resumed.removeAll(searched);
        consumer.resume(resumed);
        consumer.pause(unread);
        paused.clear();
        paused.addAll(unread);
    }

    /** Pauses a partition until it is {@link #start}ed again. */
    void pause(TopicPartition partition) {
        consumer.pause(List.of(partition));
    }

    /** Keeps partitions paused that were paused at a gap, until they are forgotten. */
    void stopAfterGap(Set<TopicPartition> partitions) {
        stopped.addAll(partitions);
    }

    /** Returns whether the partition was stopped after a gap. */
    boolean isStopped(TopicPartition partition) {
        return stopped.contains(partition);
    }

    /** Forgets that partitions were stopped, because they are given up. */
    void forget(Collection<TopicPartition> partitions) {
        stopped.removeAll(partitions);
    }
}
