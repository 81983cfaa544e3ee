package dev.millrace.mirror.copy;

import dev.millrace.mirror.status.ThreadCounters;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;

/**
 * The copies that a member makes, and those it has given up whose last records have no outcome yet. Knows which of them
 * may have news, so that an idle partition costs nothing.
 *
 * <p><b>Threads:</b> the member's thread; the fetch thread calls {@link #getOrNull}, workers call {@link #onWork}.
 * <p><b>Ordering:</b> {@code owned} is a concurrent map, so a copy that is found is complete. A partition is in {@code
 * active} from its worker's first step until its copy is visited; it comes back if that is busy. See {@link
 * WaitingBatches}.
 */
final class AssignedCopies {
    private final Map<TopicPartition, AssignedCopy> owned = new ConcurrentHashMap<>();
    /** The partitions whose copies may be busy, or have changed since they were visited. */
    private final Queue<TopicPartition> active = new ConcurrentLinkedQueue<>();

    private final List<AssignedCopy> givenUp = new ArrayList<>();

    /** Returns null if the partition is not copied, or no longer. */
    AssignedCopy getOrNull(TopicPartition partition) {
        return owned.get(partition);
    }

    void add(AssignedCopy copy) {
        owned.put(copy.partition(), copy);
    }

    /** Returns the copies that are made now. */
    Collection<AssignedCopy> all() {
        return owned.values();
    }

    int count() {
        return owned.size();
    }

    /** Returns those of these partitions that are copied now. */
    List<AssignedCopy> of(Collection<TopicPartition> partitions) {
        return partitions.stream().filter(owned::containsKey).map(owned::get).toList();
    }

    /** Has the copy of this partition visited. */
    void onWork(TopicPartition partition) {
        active.add(partition);
    }

    /**
     * Visits the copies that may have news, with another one first each time: it gets the memory that is free.
     *
     * @return how many there were
     */
    int visitActive(Consumer<AssignedCopy> visit) {
        int count = active.size();
        if (count > 1) {
            active.add(active.remove());
        }
        for (int i = 0; i < count; i++) {
            AssignedCopy copy = owned.get(active.remove());
            if (copy != null) { // otherwise it was given up
                copy.waiting().beginVisit();
                try {
                    visit.accept(copy);
                } finally {
                    copy.waiting().endVisit(copy.isBusy());
                }
            }
        }
        return count;
    }

    /** Returns the partitions that are copied now, in a set of the caller's. */
    Set<TopicPartition> partitions() {
        return new HashSet<>(owned.keySet());
    }

    boolean isBusy() {
        return !givenUp.isEmpty() || !active.isEmpty();
    }

    /** Gives up the copy of the partition, if there is one, and only waits for what it has sent. */
    void giveUp(TopicPartition partition) {
        AssignedCopy gone = owned.remove(partition);
        if (gone != null) {
            givenUp.add(gone);
            gone.dropWaiting();
        }
    }

    /** Returns whether no copy that was given up can still change what the target has of the partition. */
    boolean isSettled(TopicPartition partition) {
        return formerOf(partition).isEmpty();
    }

    /** Returns the copy of the partition that was given up and may still send. */
    Optional<AssignedCopy> formerOf(TopicPartition partition) {
        return givenUp.stream()
                .filter(former -> former.partition().equals(partition))
                .findFirst();
    }

    /** Counts what those given up have written, and forgets them once it is known; returns the number of records. */
    long advanceGivenUp(ThreadCounters outcomes) {
        long acked = 0;
        for (Iterator<AssignedCopy> left = givenUp.iterator(); left.hasNext(); ) {
            AssignedCopy next = left.next();
            acked += next.advance(outcomes.of(next.partition()));
            if (next.copy().isSettled()) {
                left.remove();
                next.share().close(); // what failed is no longer in flight
                outcomes.addDropped(next.copy().outstanding());
            }
        }
        return acked;
    }

    /** Forgets all copies; of those given up, what has no outcome counts as dropped. */
    void clear(ThreadCounters outcomes) {
        owned.clear();
        givenUp.forEach(gone -> outcomes.addDropped(gone.copy().outstanding()));
        givenUp.clear();
    }
}
