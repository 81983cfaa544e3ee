package dev.millrace.client;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.EncodableRecord;
import dev.millrace.client.delivery.DeliveryFuture;
import dev.millrace.client.io.IoTask;
import dev.millrace.client.memory.BufferPool;
import dev.millrace.client.metadata.ClusterImage;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;

/**
 * With {@code millrace.metadata.block=false}: the records whose topic or partition is not known yet. They wait in one
 * queue per topic and go to their batches in the order in which they were sent. A record for a partition that does not
 * exist is skipped, so that the others need not wait for it. While a topic has a queue, later records of the topic are
 * added to it.
 *
 * <p><b>Threads:</b> {@code hasWaiting}, {@code add} and {@code awaitAll} by any thread. The first I/O thread takes
 * records from the queues, and runs the callbacks of those that fail.
 * <p><b>Ordering:</b> a queue is removed, under the lock, only when it is empty and its last record is in its batch: a
 * thread that sees no queue has no record of its own in one. A round uses one image only: no record overtakes another
 * that, by that image, could go too. A round handles at most as many records per topic as waited when it came to the
 * topic; otherwise a callback that sends again would make it endless.
 * <p><b>Bounds:</b> the records count against {@code buffer.memory}, each for at most {@code max.block.ms}. If waiting
 * records take all memory, and none is left to open a batch, part of theirs is released early: as much as one batch
 * needs.
 */
final class WaitingRecords<K, V> implements IoTask {
    /** How many milliseconds to wait before trying again when there was no memory. */
    private static final long MEMORY_RETRY_MS = 5;

    private final Accumulator accumulator;
    private final TopicLookup topics;
    private final Sink<K, V> sink;
    private final long maxBlockMs;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, TopicQueue<K, V>> queues = new ConcurrentHashMap<>();

    /** Bytes reserved by all waiting records. Guarded by the lock. */
    private long waitingBytes;

    /** Guarded by the lock. */
    private boolean ended;

    /** Set after a record is added; cleared by the I/O thread before it reads the queues. */
    private volatile boolean added;

    // ---- used only by the I/O thread ----

    /** How much of {@code waitingBytes} has been released; guarded by the lock. */
    private long releasedBytes;

    private int seenVersion = -1;
    private KafkaException seenFailure;
    private long nextRoundMs = Long.MIN_VALUE;
    private long memoryRetryAtMs = Long.MIN_VALUE;
    private boolean needsMemory;

    /**
     * The records of a topic. Those in {@code skipped} were sent before those in {@code pending}; they are skipped
     * because the image does not have their partition, until there is a new image. Guarded by the lock.
     */
    private record TopicQueue<K, V>(Deque<WaitingRecord<K, V>> skipped, Deque<WaitingRecord<K, V>> pending) {
        /**
         * Creates the lists, which get memory before they change; an ArrayDeque that cannot grow looks empty
         * afterwards.
         */
        @SuppressWarnings("JdkObsolete")
        TopicQueue() {
            this(new LinkedList<>(), new LinkedList<>());
        }

        private boolean isEmpty() {
            return skipped.isEmpty() && pending.isEmpty();
        }

        private int size() {
            return skipped.size() + pending.size();
        }
    }

    /**
     * Where records go; called by the first I/O thread. If a method throws, the record is unchanged and its outcome was
     * not reported.
     */
    interface Sink<K, V> {
        /**
         * Puts a record into its batch without waiting for memory, or fails it.
         *
         * @return the future in the batch, or one that has failed
         * @throws BufferExhaustedException there is no memory now; the record is unchanged
         */
        DeliveryFuture append(WaitingRecord<K, V> record, ClusterImage image);

        /** Runs the record's callback, and returns a future that has failed. */
        DeliveryFuture fail(WaitingRecord<K, V> record, KafkaException reason);
    }

    WaitingRecords(Accumulator accumulator, TopicLookup topics, Sink<K, V> sink, long maxBlockMs) {
        this.accumulator = accumulator;
        this.topics = topics;
        this.sink = sink;
        this.maxBlockMs = maxBlockMs;
    }

    /** Whether records of the topic wait; if so, a new one must wait too, so that it does not overtake them. */
    boolean hasWaiting(String topic) {
        return !queues.isEmpty() && queues.containsKey(topic);
    }

    /**
     * Adds a record to its topic's queue, and asks the cluster for the topic.
     *
     * @return null if the I/O thread has ended
     * @throws InvalidTopicException its topic's name is too long
     * @throws BufferExhaustedException there is no memory for it
     */
    WaitingRecord<K, V> add(ProducerRecord<K, V> record, EncodableRecord encoded, Callback callback) {
        TopicLookup.requireUsualLength(record.topic());
        WaitingRecord<K, V> waiting = new WaitingRecord<>(
                record, encoded, callback, deadlineMs(), topics.image().version());
        if (!accumulator.pool().tryReserve(waiting.size())) {
            throw new BufferExhaustedException("A record of " + waiting.size()
                    + " bytes cannot wait for its topic to be known: buffer.memory is used up.");
        }
        boolean isAdded = false;
        lock.lock();
        try {
            if (!ended) {
                queues.computeIfAbsent(record.topic(), topic -> new TopicQueue<>())
                        .pending()
                        .addLast(waiting);
                waitingBytes += waiting.size();
                added = true;
                isAdded = true;
            }
        } finally {
            lock.unlock();
            if (!isAdded) {
                accumulator.pool().unreserve(waiting.size());
            }
        }
        if (!isAdded) {
            return null;
        }
        topics.requestMetadata(record.topic(), record.partition());
        return waiting;
    }

    private long deadlineMs() {
        long nowMs = accumulator.nowMs();
        return maxBlockMs > Long.MAX_VALUE - nowMs ? Long.MAX_VALUE : nowMs + maxBlockMs;
    }

    /** Blocks until each record that waits now is in its batch or has failed; returns false after {@code timeoutMs}. */
    boolean awaitAll(long timeoutMs) throws InterruptedException {
        long startNs = System.nanoTime();
        for (WaitingRecord<K, V> record : allWaiting()) {
            long leftNs = TimeUnit.MILLISECONDS.toNanos(timeoutMs) - (System.nanoTime() - startNs);
            if (!record.await(Math.max(0, leftNs))) {
                return false;
            }
        }
        return true;
    }

    private List<WaitingRecord<K, V>> allWaiting() {
        lock.lock();
        try {
            List<WaitingRecord<K, V>> all = new ArrayList<>();
            for (TopicQueue<K, V> queue : queues.values()) {
                all.addAll(queue.skipped());
                all.addAll(queue.pending());
            }
            return all;
        } finally {
            lock.unlock();
        }
    }

    // ---- I/O thread ----

    @Override
    public long runIfDue(long nowMs) {
        KafkaException failure = topics.lastFailure();
        if (failure != seenFailure || topics.hasFailedForGood()) {
            seenFailure = failure;
            failAll(failure);
        }
        ClusterImage image = topics.image();
        boolean isNewImage = image.version() != seenVersion;
        if (isNewImage || added || nowMs >= nextRoundMs) {
            added = false;
            seenVersion = image.version();
            nextRoundMs = Long.MAX_VALUE;
            needsMemory = false;
            for (String topic : List.copyOf(queues.keySet())) {
                if (isNewImage) {
                    unskipAll(topic);
                }
                nextRoundMs = Math.min(nextRoundMs, takeReady(topic, image, nowMs));
                WaitingRecord<K, V> first = first(topic);
                if (isNewImage && first != null) {
                    topics.requestMetadata(topic, first.record().partition()); // the last response did not have it
                }
            }
            accumulator.setShortForWaiting(needsMemory);
        }
        if (added) {
            return 0;
        }
        return nextRoundMs == Long.MAX_VALUE ? Long.MAX_VALUE : Math.max(1, nextRoundMs - nowMs);
    }

    /** Makes the skipped records of a topic pending again, in the order in which they were sent. */
    private void unskipAll(String topic) {
        lock.lock();
        try {
            TopicQueue<K, V> queue = queues.get(topic);
            while (!queue.skipped().isEmpty()) {
                queue.pending().addFirst(queue.skipped().getLast()); // which may lack memory
                queue.skipped().removeLast();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Takes from the queue each record that can go to its batch or must fail; returns when to call this again. */
    private long takeReady(String topic, ClusterImage image, long nowMs) {
        WaitingRecord<K, V> next = first(topic, TopicQueue::pending);
        for (int left = count(topic); left > 0 && next != null && tryTake(next, image, nowMs); left--) {
            next = first(topic, TopicQueue::pending);
        }
        WaitingRecord<K, V> skipped = first(topic, TopicQueue::skipped);
        while (skipped != null && nowMs >= skipped.deadlineMs()) {
            endWaitAndRemove(
                    skipped,
                    sink.fail(
                            skipped,
                            topics.timeoutException(topic, skipped.record().partition(), maxBlockMs)));
            skipped = first(topic, TopicQueue::skipped);
        }
        long deadlineMs = Math.min(deadlineMs(next), deadlineMs(skipped));
        boolean waitsForMemory = next != null && memoryRetryAtMs > nowMs;
        return waitsForMemory ? Math.min(memoryRetryAtMs, deadlineMs) : deadlineMs;
    }

    private static long deadlineMs(WaitingRecord<?, ?> record) {
        return record == null ? Long.MAX_VALUE : record.deadlineMs();
    }

    /** Appends, fails or skips the first pending record of a topic; returns false if it must keep waiting. */
    private boolean tryTake(WaitingRecord<K, V> first, ClusterImage image, long nowMs) {
        String topic = first.record().topic();
        boolean isLate = nowMs >= first.deadlineMs();
        if (TopicLookup.has(image, first.record())) {
            if (nowMs >= memoryRetryAtMs) {
                if (tryAppend(first, image)) {
                    return true;
                }
                memoryRetryAtMs = nowMs + MEMORY_RETRY_MS;
            }
            if (isLate) {
                String message = "No memory for a record within max.block.ms = " + maxBlockMs;
                endWaitAndRemove(first, sink.fail(first, new BufferExhaustedException(message)));
            }
            needsMemory |= !isLate;
            return isLate;
        }
        KafkaException reason = TopicLookup.permanentErrorOrNull(image, topic, first.imageVersion());
        if (reason == null && isLate) {
            reason = topics.timeoutException(topic, first.record().partition(), maxBlockMs);
        }
        if (reason != null) {
            endWaitAndRemove(first, sink.fail(first, reason));
            return true;
        }
        if (image.topic(topic) == null) {
            return false;
        }
        skip(first); // only its partition is unknown; the other records need not wait for that
        return true;
    }

    /** Puts a record into its batch, or fails it; returns false if there is no memory now. */
    private boolean tryAppend(WaitingRecord<K, V> first, ClusterImage image) {
        while (true) {
            try {
                endWaitAndRemove(first, sink.append(first, image));
                return true;
            } catch (BufferExhaustedException e) {
                BufferPool pool = accumulator.pool();
                if (!tryRelease(pool.reusableSize(Math.max(first.size(), pool.batchSize())))) {
                    return false;
                }
            }
        }
    }

    /**
     * Releases memory of waiting records early, for the batch into which they are about to be copied; false if all is
     * released.
     */
    private boolean tryRelease(long neededBytes) {
        lock.lock();
        try {
            long bytes = Math.min(neededBytes, waitingBytes) - releasedBytes;
            if (bytes <= 0) {
                return false;
            }
            releasedBytes += bytes;
            accumulator.pool().unreserve(bytes);
            return true;
        } finally {
            lock.unlock();
        }
    }

    private int count(String topic) {
        lock.lock();
        try {
            TopicQueue<K, V> queue = queues.get(topic);
            return queue == null ? 0 : queue.size();
        } finally {
            lock.unlock();
        }
    }

    private WaitingRecord<K, V> first(String topic) {
        WaitingRecord<K, V> skipped = first(topic, TopicQueue::skipped);
        return skipped != null ? skipped : first(topic, TopicQueue::pending);
    }

    private WaitingRecord<K, V> first(String topic, Function<TopicQueue<K, V>, Deque<WaitingRecord<K, V>>> part) {
        lock.lock();
        try {
            TopicQueue<K, V> queue = queues.get(topic);
            return queue == null ? null : part.apply(queue).peekFirst();
        } finally {
            lock.unlock();
        }
    }

    private void skip(WaitingRecord<K, V> first) {
        lock.lock();
        try {
            TopicQueue<K, V> queue = queues.get(first.record().topic());
            queue.skipped().addLast(queue.pending().getFirst()); // which may lack memory
            queue.pending().removeFirst();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Ends a record's wait before it leaves the queue, so that the next record of its thread may bypass the queue but
     * not overtake it.
     */
    private void endWaitAndRemove(WaitingRecord<K, V> first, DeliveryFuture outcome) {
        first.endWait(outcome);
        lock.lock();
        try {
            remove(first);
            long released = Math.min(releasedBytes, first.size());
            releasedBytes -= released;
            waitingBytes -= first.size();
            accumulator.pool().unreserve(first.size() - released);
        } finally {
            lock.unlock();
        }
    }

    /** Removes a record that is the first of the skipped or the first of the pending ones. */
    @SuppressWarnings("ReferenceEquality") // identity: two records may be equal
    private void remove(WaitingRecord<K, V> first) {
        TopicQueue<K, V> queue = queues.get(first.record().topic());
        if (queue.skipped().peekFirst() == first) {
            queue.skipped().removeFirst();
        } else {
            queue.pending().removeFirst();
        }
        if (queue.isEmpty()) {
            queues.remove(first.record().topic());
        }
    }

    private void failAll(KafkaException reason) {
        for (String topic : List.copyOf(queues.keySet())) {
            for (int left = count(topic); left > 0; left--) {
                WaitingRecord<K, V> first = first(topic);
                endWaitAndRemove(first, sink.fail(first, reason));
            }
        }
    }

    @Override
    public void onEnd(RuntimeException reason) {
        lock.lock();
        try {
            ended = true;
        } finally {
            lock.unlock();
        }
        failAll(reason instanceof KafkaException kafka ? kafka : new KafkaException(reason));
    }
}
