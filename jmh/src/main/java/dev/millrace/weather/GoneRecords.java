package dev.millrace.weather;

import dev.millrace.testkit.oracle.TopicDigest;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/**
 * What was deleted from the topics of the source and from their copies, and which copies were deleted.
 *
 * <p><b>Threads:</b> any.
 */
final class GoneRecords {
    private final Map<String, Gone> byTopic = new HashMap<>();
    private final Map<String, TopicDigest> fromCopies = new HashMap<>();
    private final Set<String> createdAgain = new HashSet<>();
    private final Set<String> withoutCopy = new HashSet<>();
    private final Set<String> withoutEnd = new HashSet<>();

    private record Gone(TopicDigest committed, TopicDigest all) {
        static final Gone NOTHING = new Gone(TopicDigest.EMPTY, TopicDigest.EMPTY);
    }

    /**
     * Deletes all records before these offsets, which were written before; blocks until they are gone, and returns how many.
     *
     * @throws ExecutionException if they cannot be read first; nothing is deleted then
     * @throws TimeoutException the same
     */
    synchronized long delete(Side source, String topic, Map<TopicPartition, Long> offsets)
            throws ExecutionException, TimeoutException {
        Predicate<ConsumerRecord<byte[], byte[]>> isDeleted = Side.isBefore(offsets);
        TopicDigest committed = source.read(topic, IsolationLevel.READ_COMMITTED, isDeleted);
        TopicDigest all = source.read(topic, IsolationLevel.READ_UNCOMMITTED, isDeleted);
        source.deleteBefore(offsets);
        add(topic, committed, all);
        return all.records();
    }

    /**
     * Has these partitions of a topic that nobody writes to lose their last records, and returns how many.
     *
     * @param ends where they end afterwards
     * @param loss takes the records away; blocks until they are gone
     * @throws ExecutionException if they cannot be read first; nothing is deleted then
     * @throws TimeoutException the same
     */
    synchronized long loseEnd(Side source, String topic, Map<TopicPartition, Long> ends, Runnable loss)
            throws ExecutionException, TimeoutException {
        Predicate<ConsumerRecord<byte[], byte[]>> isLost =
                record -> ends.containsKey(new TopicPartition(record.topic(), record.partition()))
                        && !Side.isBefore(ends).test(record);
        TopicDigest lost = source.read(topic, isLost);
        withoutEnd.add(topic);
        loss.run();
        add(topic, lost, lost);
        return lost.records();
    }

    private void add(String topic, TopicDigest committed, TopicDigest all) {
        Gone before = of(topic);
        byTopic.put(topic, new Gone(before.committed.plus(committed), before.all.plus(all)));
    }

    /**
     * Deletes a topic with all its records, and creates it again.
     *
     * @throws ExecutionException if they cannot be read first; nothing is deleted then
     * @throws TimeoutException the same
     */
    synchronized void createAgain(Side source, SourceTopic topic) throws ExecutionException, TimeoutException {
        String name = topic.kind().name();
        add(
                name,
                source.read(name, IsolationLevel.READ_COMMITTED, record -> true),
                source.read(name, IsolationLevel.READ_UNCOMMITTED, record -> true));
        createdAgain.add(name);
        source.createAgain(topic.kind(), topic.partitions());
    }

    /** The copy of this topic of the source may be deleted from now on. */
    synchronized void deleteCopy(String topic) {
        withoutCopy.add(topic);
        fromCopies.remove(topic); // it has to be copied again
    }

    /**
     * Deletes all records before these offsets from the copy of this topic of the source; blocks until they are gone.
     *
     * @throws ExecutionException if they cannot be read first; nothing is deleted then
     * @throws TimeoutException the same
     */
    synchronized void deleteFromCopy(Side target, String topic, String copy, Map<TopicPartition, Long> offsets)
            throws ExecutionException, TimeoutException {
        TopicDigest deleted = target.read(copy, Side.isBefore(offsets));
        target.deleteBefore(offsets);
        fromCopies.merge(topic, deleted, TopicDigest::plus);
    }

    /** What was deleted from the copy of this topic of the source. */
    synchronized TopicDigest fromCopy(String topic) {
        return fromCopies.getOrDefault(topic, TopicDigest.EMPTY);
    }

    /** Whether the copy of this topic of the source was ever deleted. */
    synchronized boolean wasCopyDeleted(String topic) {
        return withoutCopy.contains(topic);
    }

    /** Whether this topic of the source lost its last records. */
    synchronized boolean wasEndLost(String topic) {
        return withoutEnd.contains(topic);
    }

    /** Whether progress of the mirror in this topic may count no more: either side went, or the source lost its end. */
    synchronized boolean mustBeCopiedAgain(String topic) {
        return createdAgain.contains(topic) || withoutCopy.contains(topic) || withoutEnd.contains(topic);
    }

    private Gone of(String topic) {
        return byTopic.getOrDefault(topic, Gone.NOTHING);
    }

    synchronized boolean isEmpty(String topic) {
        return of(topic).all.records() == 0;
    }

    /** What readers of committed records have seen of it. */
    synchronized TopicDigest committed(String topic) {
        return of(topic).committed;
    }

    /** All of it, also what was aborted. */
    synchronized TopicDigest all(String topic) {
        return of(topic).all;
    }
}
