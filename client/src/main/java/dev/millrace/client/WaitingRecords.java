package dev.millrace.client;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.EncodableRecord;
import dev.millrace.client.delivery.DeliveryFuture;
import dev.millrace.client.io.IoTask;
import dev.millrace.client.metadata.ClusterImage;
import java.util.ArrayDeque;
import java.util.ArrayList;
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
 * With {@code millrace.metadata.block=false}: the records whose topic, or partition, is not known yet. They wait in lines, one a
 * topic, and go on to their batches in the order in which they came, save that those for a partition that does not exist let the
 * others pass. While a line stands, later records of its topic join it.
 *
 * <p><b>Threads:</b> {@code isBehind}, {@code add}, {@code awaitSettled} by any thread; lines are emptied by the first I/O thread,
 * which also runs the callbacks of those that fail.
 * <p><b>Ordering:</b> a line is removed, under the lock, only when it is empty and its last record is in its batch: who sees no line
 * has no record of its own in one. A round looks at one image only: no record passes another that, by that image, could go too. It
 * ends with the records that were there when it began: a callback that sends again would keep it going for ever.
 * <p><b>Bounds:</b> they count against {@code buffer.memory}, each for {@code max.block.ms} at most. To open a batch when all memory is
 * taken by waiting records, some of theirs is given back early: one batch's worth.
 */
final class WaitingRecords<K, V> implements IoTask {
    /** How long to wait for memory before trying again, while none comes back. */
    private static final long MEMORY_RETRY_MS = 5;

    private final Accumulator accumulator;
    private final TopicLookup topics;
    private final Sink<K, V> sink;
    private final long maxBlockMs;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Line<K, V>> lines = new ConcurrentHashMap<>();

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
    private boolean lacksMemory;

    /**
     * The records of a topic: {@code passed} came before {@code ahead}. Those have been passed by others because the image does not
     * have their partition; with the next image all are looked at again, in the order of arrival. Guarded by the lock.
     */
    private record Line<K, V>(ArrayDeque<WaitingRecord<K, V>> passed, ArrayDeque<WaitingRecord<K, V>> ahead) {
        private boolean isEmpty() {
            return passed.isEmpty() && ahead.isEmpty();
        }

        private int size() {
            return passed.size() + ahead.size();
        }
    }

    /** What becomes of them in the end; called by the I/O thread. What either method throws, it throws before anybody is told. */
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

    /** Whether a record of the topic must join a line, lest it overtake another. */
    boolean isBehind(String topic) {
        return !lines.isEmpty() && lines.containsKey(topic);
    }

    /**
     * Lets a record wait.
     *
     * @return null when closed
     * @throws BufferExhaustedException there is no memory for it
     */
    WaitingRecord<K, V> add(ProducerRecord<K, V> record, EncodableRecord encoded, Callback callback) {
        WaitingRecord<K, V> waiting = new WaitingRecord<>(
                record, encoded, callback, deadlineMs(), topics.image().version());
        if (!accumulator.pool().tryReserve(waiting.size())) {
            throw new BufferExhaustedException("A record of " + waiting.size()
                    + " bytes cannot wait for its topic to be known: buffer.memory is used up.");
        }
        boolean joined = false;
        lock.lock();
        try {
            if (!ended) {
                lines.computeIfAbsent(record.topic(), topic -> new Line<>(new ArrayDeque<>(), new ArrayDeque<>()))
                        .ahead()
                        .addLast(waiting);
                waitingBytes += waiting.size();
                added = true;
                joined = true;
            }
        } finally {
            lock.unlock();
            if (!joined) {
                accumulator.pool().unreserve(waiting.size());
            }
        }
        if (!joined) {
            return null;
        }
        topics.ask(record.topic(), record.partition());
        return waiting;
    }

    private long deadlineMs() {
        long nowMs = accumulator.nowMs();
        return maxBlockMs > Long.MAX_VALUE - nowMs ? Long.MAX_VALUE : nowMs + maxBlockMs;
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
            for (Line<K, V> line : lines.values()) {
                all.addAll(line.passed());
                all.addAll(line.ahead());
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
        if (failure != seenFailure) {
            seenFailure = failure;
            failAll(failure);
        }
        ClusterImage image = topics.image();
        boolean news = image.version() != seenVersion;
        if (news || added || nowMs >= lookAgainMs) {
            added = false;
            seenVersion = image.version();
            lookAgainMs = Long.MAX_VALUE;
            lacksMemory = false;
            for (String topic : List.copyOf(lines.keySet())) {
                if (news) {
                    lookAtAllAgain(topic);
                }
                lookAgainMs = Math.min(lookAgainMs, advance(topic, image, nowMs));
                WaitingRecord<K, V> first = first(topic);
                if (news && first != null) {
                    topics.ask(topic, first.record().partition()); // the last answer did not bring it
                }
            }
            accumulator.setShortForWaiting(lacksMemory);
        }
        if (added) {
            return 0;
        }
        return lookAgainMs == Long.MAX_VALUE ? Long.MAX_VALUE : Math.max(1, lookAgainMs - nowMs);
    }

    private void lookAtAllAgain(String topic) {
        lock.lock();
        try {
            Line<K, V> line = lines.get(topic);
            while (!line.passed().isEmpty()) {
                line.ahead().addFirst(line.passed().removeLast());
            }
        } finally {
            lock.unlock();
        }
    }

    /** Lets go of what can go; returns when to look again. */
    private long advance(String topic, ClusterImage image, long nowMs) {
        WaitingRecord<K, V> next = first(topic, Line::ahead);
        for (int left = count(topic); left > 0 && next != null && letGo(next, image, nowMs); left--) {
            next = first(topic, Line::ahead);
        }
        WaitingRecord<K, V> passed = first(topic, Line::passed);
        while (passed != null && nowMs >= passed.deadlineMs()) {
            leave(
                    passed,
                    sink.fail(passed, topics.timeout(topic, passed.record().partition(), maxBlockMs)));
            passed = first(topic, Line::passed);
        }
        long deadlineMs = Math.min(deadlineMs(next), deadlineMs(passed));
        boolean waitsForMemory = next != null && memoryNotBeforeMs > nowMs;
        return waitsForMemory ? Math.min(memoryNotBeforeMs, deadlineMs) : deadlineMs;
    }

    private static long deadlineMs(WaitingRecord<?, ?> record) {
        return record == null ? Long.MAX_VALUE : record.deadlineMs();
    }

    /** Whether the first ahead in a line could go on: to its batch, past others, or because it has failed. */
    private boolean letGo(WaitingRecord<K, V> first, ClusterImage image, long nowMs) {
        String topic = first.record().topic();
        boolean late = nowMs >= first.deadlineMs();
        if (TopicLookup.has(image, first.record())) {
            if (nowMs >= memoryNotBeforeMs) {
                if (append(first, image)) {
                    return true;
                }
                memoryNotBeforeMs = nowMs + MEMORY_RETRY_MS;
            }
            if (late) {
                String message = "No memory for a record within max.block.ms = " + maxBlockMs;
                leave(first, sink.fail(first, new BufferExhaustedException(message)));
            }
            lacksMemory |= !late;
            return late;
        }
        KafkaException reason = TopicLookup.hopeless(image, topic, first.sinceVersion());
        if (reason == null && late) {
            reason = topics.timeout(topic, first.record().partition(), maxBlockMs);
        }
        if (reason != null) {
            leave(first, sink.fail(first, reason));
            return true;
        }
        if (image.topic(topic) == null) {
            return false;
        }
        letPass(first); // only this partition is unknown, which others need not wait for
        return true;
    }

    private boolean append(WaitingRecord<K, V> first, ClusterImage image) {
        while (true) {
            try {
                leave(first, sink.append(first, image));
                return true;
            } catch (BufferExhaustedException e) {
                if (!lend(Math.max(first.size(), accumulator.pool().batchSize()))) {
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
            accumulator.pool().unreserve(lending);
            return true;
        } finally {
            lock.unlock();
        }
    }

    private int count(String topic) {
        lock.lock();
        try {
            Line<K, V> line = lines.get(topic);
            return line == null ? 0 : line.size();
        } finally {
            lock.unlock();
        }
    }

    private WaitingRecord<K, V> first(String topic) {
        WaitingRecord<K, V> passed = first(topic, Line::passed);
        return passed != null ? passed : first(topic, Line::ahead);
    }

    private WaitingRecord<K, V> first(String topic, Function<Line<K, V>, ArrayDeque<WaitingRecord<K, V>>> partOfLine) {
        lock.lock();
        try {
            Line<K, V> line = lines.get(topic);
            return line == null ? null : partOfLine.apply(line).peekFirst();
        } finally {
            lock.unlock();
        }
    }

    private void letPass(WaitingRecord<K, V> first) {
        lock.lock();
        try {
            Line<K, V> line = lines.get(first.record().topic());
            line.passed().addLast(line.ahead().removeFirst());
        } finally {
            lock.unlock();
        }
    }

    /** Only now, with its fate settled, may the next record of its thread go its own way. */
    private void leave(WaitingRecord<K, V> first, DeliveryFuture outcome) {
        first.settle(outcome);
        lock.lock();
        try {
            remove(first);
            long lent = Math.min(lentBytes, first.size());
            lentBytes -= lent;
            waitingBytes -= first.size();
            accumulator.pool().unreserve(first.size() - lent);
        } finally {
            lock.unlock();
        }
    }

    /** The record is the first of those passed, or the first ahead. */
    @SuppressWarnings("ReferenceEquality") // two records may be equal in all but their place
    private void remove(WaitingRecord<K, V> first) {
        Line<K, V> line = lines.get(first.record().topic());
        if (line.passed().peekFirst() == first) {
            line.passed().removeFirst();
        } else {
            line.ahead().removeFirst();
        }
        if (line.isEmpty()) {
            lines.remove(first.record().topic());
        }
    }

    private void failAll(KafkaException reason) {
        for (String topic : List.copyOf(lines.keySet())) {
            for (int left = count(topic); left > 0; left--) {
                WaitingRecord<K, V> first = first(topic);
                leave(first, sink.fail(first, reason));
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
