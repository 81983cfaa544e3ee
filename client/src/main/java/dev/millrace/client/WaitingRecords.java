package dev.millrace.client;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.EncodableRecord;
import dev.millrace.client.delivery.DeliveryFuture;
import dev.millrace.client.io.Errand;
import dev.millrace.client.metadata.ClusterImage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/**
 * With {@code millrace.metadata.block=false}: the records whose topic, or partition, is not known yet. They wait in lines, one a
 * topic, and go on to their batches in the order in which they came. While a line stands, later records of its topic join it.
 *
 * <p><b>Threads:</b> {@code isBehind}, {@code add}, {@code awaitSettled} by any thread; lines are emptied by the first I/O thread,
 * which also runs the callbacks of those that fail.
 * <p><b>Ordering:</b> a line is removed, under the lock, only when it is empty and its last record is in its batch: who sees no line
 * has no record of its own in one.
 * <p><b>Bounds:</b> they count against {@code buffer.memory}, each for {@code max.block.ms} at most. To open a batch when all memory is
 * taken by waiting records, some of theirs is given back early: one batch's worth.
 */
final class WaitingRecords<K, V> implements Errand {
    /** How long to wait for memory before trying again, while none comes back. */
    private static final long MEMORY_RETRY_MS = 5;

    private final Accumulator accumulator;
    private final TopicLookup topics;
    private final Sink<K, V> sink;
    private final long maxBlockMs;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<TopicPartition, ArrayDeque<WaitingRecord<K, V>>> lines = new ConcurrentHashMap<>();

    /** These two are guarded by the lock. */
    private long waitingBytes;

    private boolean ended;

    /** Set by who adds a record, cleared by the I/O thread before it looks. */
    private volatile boolean added;

    /** The rest is the I/O thread's. {@code lentBytes} is what it has given back of the waiting records' memory. */
    private long lentBytes;

    private int seenVersion = -1;
    private KafkaException seenFailure;
    private long lookAgainMs = Long.MIN_VALUE;
    private long memoryNotBeforeMs = Long.MIN_VALUE;

    /** What becomes of them in the end; called by the I/O thread. */
    interface Sink<K, V> {
        /**
         * Puts a record into its batch without waiting for memory, or fails it.
         *
         * @throws BufferExhaustedException there is no memory now; nothing has happened
         */
        DeliveryFuture append(WaitingRecord<K, V> record, ClusterImage image);

        /** Tells the record's owner; returns a future that has failed. */
        DeliveryFuture fail(WaitingRecord<K, V> record, KafkaException reason);
    }

    WaitingRecords(Accumulator accumulator, TopicLookup topics, Sink<K, V> sink, long maxBlockMs) {
        this.accumulator = accumulator;
        this.topics = topics;
        this.sink = sink;
        this.maxBlockMs = maxBlockMs;
    }

    /** Whether a record for there must join a line, lest it overtake another. */
    boolean isBehind(String topic, Integer partition) {
        return !lines.isEmpty()
                && (lines.containsKey(lineOf(topic, null))
                        || (partition != null && lines.containsKey(lineOf(topic, partition))));
    }

    /**
     * Lets a record wait.
     *
     * @return null when closed
     * @throws BufferExhaustedException there is no memory for it
     */
    WaitingRecord<K, V> add(ProducerRecord<K, V> record, EncodableRecord encoded, Callback callback) {
        WaitingRecord<K, V> waiting = new WaitingRecord<>(record, encoded, callback, deadlineMs(), topics.version());
        if (!accumulator.reserve(waiting.size())) {
            throw new BufferExhaustedException("A record of " + waiting.size()
                    + " bytes cannot wait for its topic to be known: buffer.memory is used up.");
        }
        lock.lock();
        try {
            if (ended) {
                accumulator.unreserve(waiting.size());
                return null;
            }
            waitingBytes += waiting.size();
            boolean wholeTopic =
                    topics.current(record.topic(), null) == null || lines.containsKey(lineOf(record.topic(), null));
            join(lineOf(record.topic(), wholeTopic ? null : record.partition()), waiting);
            added = true;
        } finally {
            lock.unlock();
        }
        topics.ask(record.topic(), record.partition());
        return waiting;
    }

    private long deadlineMs() {
        long nowMs = accumulator.nowMs();
        return maxBlockMs > Long.MAX_VALUE - nowMs ? Long.MAX_VALUE : nowMs + maxBlockMs;
    }

    private void join(TopicPartition line, WaitingRecord<K, V> record) {
        lines.computeIfAbsent(line, l -> new ArrayDeque<>()).addLast(record);
    }

    private static TopicPartition lineOf(String topic, Integer partition) {
        return new TopicPartition(topic, partition == null ? RecordMetadata.UNKNOWN_PARTITION : partition);
    }

    /** Blocks until every record that waits now is in its batch or has failed; false if that takes longer. */
    boolean awaitSettled(long timeoutMs) throws InterruptedException {
        long startNs = System.nanoTime();
        for (WaitingRecord<K, V> record : all()) {
            long leftNs = TimeUnit.MILLISECONDS.toNanos(timeoutMs) - (System.nanoTime() - startNs);
            if (!record.awaitSettled(Math.max(0, leftNs))) {
                return false;
            }
        }
        return true;
    }

    private List<WaitingRecord<K, V>> all() {
        lock.lock();
        try {
            List<WaitingRecord<K, V>> all = new ArrayList<>();
            lines.values().forEach(all::addAll);
            return all;
        } finally {
            lock.unlock();
        }
    }

    // ---- I/O thread ----

    @Override
    public long runIfDue(long nowMs) {
        KafkaException failure = topics.lastFailure();
        if (failure != seenFailure) {
            seenFailure = failure;
            failAll(failure);
        }
        boolean news = topics.version() != seenVersion;
        if (news || added || nowMs >= lookAgainMs) {
            added = false;
            seenVersion = topics.version();
            lookAgainMs = Long.MAX_VALUE;
            for (TopicPartition line : List.copyOf(lines.keySet())) {
                lookAgainMs = Math.min(lookAgainMs, advance(line, nowMs));
                if (news && lines.containsKey(line)) {
                    topics.ask(
                            line.topic(),
                            line.partition() < 0 ? null : line.partition()); // the last answer did not bring it
                }
            }
        }
        if (added) {
            return 0;
        }
        return lookAgainMs == Long.MAX_VALUE ? Long.MAX_VALUE : Math.max(1, lookAgainMs - nowMs);
    }

    /** Lets go of what can go; returns when to look again. */
    private long advance(TopicPartition line, long nowMs) {
        WaitingRecord<K, V> first = first(line);
        while (first != null && letGo(line, first, nowMs)) {
            first = first(line);
        }
        if (first == null) {
            return Long.MAX_VALUE;
        }
        return memoryNotBeforeMs > nowMs ? Math.min(memoryNotBeforeMs, first.deadlineMs()) : first.deadlineMs();
    }

    /** Whether the first of a line could leave it: for its batch, for another line, or because it has failed. */
    private boolean letGo(TopicPartition line, WaitingRecord<K, V> first, long nowMs) {
        Integer partition = first.record().partition();
        ClusterImage image = topics.known(line.topic(), partition);
        if (image != null) {
            if (nowMs >= memoryNotBeforeMs) {
                if (append(line, first, image)) {
                    return true;
                }
                memoryNotBeforeMs = nowMs + MEMORY_RETRY_MS;
            }
        } else if (topics.hopeless(line.topic(), first.sinceVersion()) != null) {
            leave(line, first, sink.fail(first, topics.hopeless(line.topic(), first.sinceVersion())));
            return true;
        } else if (line.partition() < 0 && topics.known(line.topic(), null) != null) {
            moveToOwnLine(line, first); // only this partition is unknown, which others need not wait for
            return true;
        }
        if (nowMs < first.deadlineMs()) {
            return false;
        }
        KafkaException late = image == null
                ? topics.timeout(line.topic(), partition, maxBlockMs)
                : new BufferExhaustedException("No memory for a record within max.block.ms = " + maxBlockMs);
        leave(line, first, sink.fail(first, late));
        return true;
    }

    private boolean append(TopicPartition line, WaitingRecord<K, V> first, ClusterImage image) {
        while (true) {
            try {
                leave(line, first, sink.append(first, image));
                return true;
            } catch (BufferExhaustedException e) {
                if (!lend(Math.max(first.size(), accumulator.batchSize()))) {
                    return false;
                }
            }
        }
    }

    /** Gives back memory of waiting records, which are about to be copied into the batch that needs it. */
    private boolean lend(long wantedBytes) {
        lock.lock();
        try {
            long lending = Math.min(wantedBytes, waitingBytes) - lentBytes;
            if (lending <= 0) {
                return false;
            }
            lentBytes += lending;
            accumulator.unreserve(lending);
            return true;
        } finally {
            lock.unlock();
        }
    }

    private WaitingRecord<K, V> first(TopicPartition line) {
        lock.lock();
        try {
            ArrayDeque<WaitingRecord<K, V>> records = lines.get(line);
            return records == null ? null : records.peekFirst();
        } finally {
            lock.unlock();
        }
    }

    private void moveToOwnLine(TopicPartition line, WaitingRecord<K, V> first) {
        lock.lock();
        try {
            join(lineOf(line.topic(), first.record().partition()), first);
            removeFirst(line);
            added = true; // the new line must be looked at, too
        } finally {
            lock.unlock();
        }
        topics.ask(line.topic(), first.record().partition());
    }

    /** Only now, with its fate settled, may the next record of its thread go its own way. */
    private void leave(TopicPartition line, WaitingRecord<K, V> first, DeliveryFuture outcome) {
        first.settle(outcome);
        lock.lock();
        try {
            removeFirst(line);
            long lent = Math.min(lentBytes, first.size());
            lentBytes -= lent;
            waitingBytes -= first.size();
            accumulator.unreserve(first.size() - lent);
        } finally {
            lock.unlock();
        }
    }

    private void removeFirst(TopicPartition line) {
        ArrayDeque<WaitingRecord<K, V>> records = lines.get(line);
        records.removeFirst();
        if (records.isEmpty()) {
            lines.remove(line);
        }
    }

    private void failAll(KafkaException reason) {
        for (TopicPartition line : List.copyOf(lines.keySet())) {
            for (WaitingRecord<K, V> first = first(line); first != null; first = first(line)) {
                leave(line, first, sink.fail(first, reason));
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
