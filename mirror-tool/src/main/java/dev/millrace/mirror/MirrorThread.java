package dev.millrace.mirror;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One consumer of the mirror, and the thread that polls it: poll, send each record to the same partition of the target,
 * commit what has been acknowledged.
 *
 * <p>Nothing is flushed. Offsets are committed in the background about once a second, each partition up to its
 * {@link AckedPrefix}. A partition that is revoked is given up only when its own outstanding records are acknowledged
 * and committed; the others go on being acknowledged meanwhile.
 *
 * <p>At the end the thread does so with all its partitions, and then stays in the group until the other threads have,
 * too: the rebalance that leaving sets off would keep them from committing, and so would one that is under way if this
 * thread no longer polled.
 *
 * <p>Backpressure is the producer's: when its {@code buffer.memory} is full, {@code send} blocks, and with it this
 * thread. That is safe, for such a wait ends by itself: memory comes free when a record is acknowledged, or fails after
 * {@code delivery.timeout.ms} and stops the mirror. So the consumer need not be thrown out of its group for polling late
 * ({@code max.poll.interval.ms} is as good as infinite; a process that hangs is noticed by its missing heartbeats), and
 * {@code max.block.ms} exceeds {@code delivery.timeout.ms}, so that full memory is never mistaken for a failure.
 *
 * <p><b>Threads:</b> {@link #run} in a thread of its own, {@link #totals} in any. Rebalance callbacks come from within
 * {@code poll} and {@code close}, hence in the same thread.
 * <p><b>Ordering:</b> see {@link AckedPrefix} and {@link ThreadCounters}; everything else belongs to the thread.
 */
final class MirrorThread implements Runnable, ConsumerRebalanceListener {
    private static final Logger LOG = LoggerFactory.getLogger(MirrorThread.class);

    private static final Duration IDLE_POLL = Duration.ofMillis(200);
    /** While acknowledgements are due, look for them soon: what is in flight and what may be committed stay fresh. */
    private static final Duration BUSY_POLL = Duration.ofMillis(5);

    private static final long COMMIT_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long DRAIN_NANOS = TimeUnit.SECONDS.toNanos(18);
    private static final long SETTLE_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);

    private final Mirror mirror;
    private final Consumer<byte[], byte[]> consumer;
    private final java.util.function.Consumer<TopicPartition> ensureTarget;
    private final MirrorObserver observer;
    private final MirrorObserver.Sender sender;
    private final ThreadCounters counters;
    private final AckedPrefixes prefixes;
    private final SourceTopics source;
    private final SourceLag lag;
    private final OffsetCommits commits;
    /** Partitions that had gone from the source when they were assigned, so that the target may not have them. */
    private final Set<TopicPartition> notEnsured = new HashSet<>();

    private long lastCommitNanos = System.nanoTime();

    /**
     * @param ensureTarget returns once the target has the partition
     * @param sender the thread's own way to the producer
     */
    MirrorThread(
            Mirror mirror,
            Consumer<byte[], byte[]> consumer,
            java.util.function.Consumer<TopicPartition> ensureTarget,
            MirrorObserver observer,
            MirrorObserver.Sender sender) {
        this.mirror = mirror;
        this.consumer = consumer;
        this.ensureTarget = ensureTarget;
        this.observer = observer;
        this.sender = sender;
        this.counters = new ThreadCounters(lastCommitNanos);
        this.prefixes = new AckedPrefixes(mirror::fail, mirror::withMark, counters, observer);
        this.source = new SourceTopics(consumer);
        this.lag = new SourceLag(consumer, lastCommitNanos);
        this.commits = new OffsetCommits(consumer, source);
    }

    /** Mirrors until the mirror stops; a failure of any kind, an Error too, stops the mirror. */
    @Override
    public void run() {
        try {
            consumer.subscribe(mirror.topics(), this);
            while (mirror.isRunning()) {
                forward(consumer.poll(prefixes.outstanding() == 0 ? IDLE_POLL : BUSY_POLL));
                prefixes.advance();
                long now = System.nanoTime();
                if (now - lastCommitNanos > COMMIT_INTERVAL_NANOS) {
                    lastCommitNanos = now;
                    commits.commitInBackground(prefixes.positions(prefixes.partitions()));
                    lag.measure(prefixes.partitions(), counters, now);
                }
            }
        } catch (Throwable failure) {
            mirror.fail(failure);
        } finally {
            settle();
            attempt(() -> consumer.close(CloseOptions.timeout(CLOSE_TIMEOUT)));
        }
    }

    private void forward(ConsumerRecords<byte[], byte[]> records) {
        if (!records.isEmpty()) {
            observer.onPolled(records.count());
        }
        // Where there was nothing but an aborted transaction, or marks of one's end, only the position has moved. An
        // interceptor of the user's may have left out the positions.
        Set<TopicPartition> partitions = new HashSet<>(records.nextOffsets().keySet());
        partitions.addAll(records.partitions());
        for (TopicPartition partition : partitions) {
            forward(partition, records.records(partition), records.nextOffsets().get(partition));
        }
    }

    private void forward(
            TopicPartition partition, List<ConsumerRecord<byte[], byte[]>> records, OffsetAndMetadata next) {
        if (notEnsured.remove(partition)) {
            ensureTarget.accept(partition); // The topic is there again.
        }
        AckedPrefix.Page page = prefixes.get(partition).addPage(records.size(), next);
        long bytes = 0;
        int sent = 0;
        try {
            for (ConsumerRecord<byte[], byte[]> record : records) {
                if (!mirror.isRunning()) {
                    break; // What is not sent is not in the prefix, and will be read again.
                }
                bytes += Math.max(0, record.serializedKeySize()) + Math.max(0, record.serializedValueSize());
                sent++;
                send(record, page);
            }
        } finally {
            counters.addSent(sent, bytes);
        }
    }

    private void send(ConsumerRecord<byte[], byte[]> record, AckedPrefix.Page page) {
        Callback callback = page.add(record.offset());
        try {
            sender.send(copyOf(record), callback);
        } catch (RuntimeException | Error e) {
            throw page.onRefused(e);
        }
    }

    private static ProducerRecord<byte[], byte[]> copyOf(ConsumerRecord<byte[], byte[]> record) {
        // Records of the oldest format have no timestamp; the target then gives them one.
        Long timestamp = record.timestamp() < 0 ? null : record.timestamp();
        return new ProducerRecord<>(
                record.topic(), record.partition(), timestamp, record.key(), record.value(), record.headers());
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        Set<TopicPartition> gone = new HashSet<>();
        for (TopicPartition partition : partitions) {
            if (mirror.isRunning() && !ensureUnlessGone(partition)) {
                gone.add(partition);
            }
            prefixes.add(partition);
        }
        notEnsured.addAll(gone);
        warnOfGone(gone);
    }

    private boolean ensureUnlessGone(TopicPartition partition) {
        try {
            ensureTarget.accept(partition);
            return true;
        } catch (MirrorException e) {
            if (source.findMissing(Set.of(partition)).isEmpty()) {
                throw e;
            }
            return false;
        }
    }

    /**
     * Waits until the partitions' own records are acknowledged, and commits them, within about 20 s. Nobody can commit for
     * a topic that has gone from the source, or read it again: there is nothing to wait for.
     */
    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        long start = System.nanoTime();
        Set<TopicPartition> gone = new HashSet<>(source.unsubscribed(partitions));
        giveUp(gone);
        drain(partitions, start + DRAIN_NANOS);
        Map<TopicPartition, OffsetAndMetadata> positions = prefixes.positions(partitions);
        try {
            gone.addAll(commits.commit(positions, start + SETTLE_NANOS));
        } catch (KafkaException e) {
            reportUncommitted(positions, e);
        }
        giveUp(partitions);
        warnOfGone(gone);
    }

    /** Commits nothing: the partitions are somebody else's already. */
    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        prefixes.advance();
        if (!commits.uncommitted(prefixes.positions(partitions)).isEmpty()
                || !prefixes.awaited(partitions).isEmpty()) {
            reportRepeats(
                    "Lost " + partitions + " to another member of the group; their last records may be mirrored twice");
        }
        giveUp(partitions);
    }

    private void drain(Collection<TopicPartition> partitions, long deadlineNanos) {
        List<TopicPartition> left = prefixes.await(partitions, deadlineNanos);
        if (!left.isEmpty()) {
            reportRepeats("The target has not acknowledged the last records of " + left
                    + " in time; they are not committed, and will be mirrored again");
        }
    }

    private void giveUp(Collection<TopicPartition> partitions) {
        prefixes.giveUp(partitions);
        commits.forget(partitions);
        notEnsured.removeAll(partitions);
    }

    private static void warnOfGone(Set<TopicPartition> gone) {
        gone.stream()
                .collect(Collectors.groupingBy(
                        TopicPartition::topic,
                        TreeMap::new,
                        Collectors.mapping(TopicPartition::partition, Collectors.toCollection(TreeSet::new))))
                .forEach((topic, partitions) -> LOG.warn(
                        "Topic {} has gone from the source, partitions {}; they are not mirrored any more, and their"
                                + " progress is not committed",
                        topic,
                        partitions));
    }

    private void reportUncommitted(Map<TopicPartition, OffsetAndMetadata> positions, KafkaException cause) {
        reportRepeats("Could not commit " + commits.uncommitted(positions)
                + ", the last records will be mirrored again: " + MirrorException.reason(cause));
    }

    /** While the mirror runs, records mirrored again are no failure; a mirror that stops has promised to commit all. */
    private void reportRepeats(String message) {
        if (mirror.isRunning()) {
            LOG.warn(message);
        } else {
            mirror.fail(MirrorException.failed(message));
        }
    }

    /** Waits for the outstanding records, commits, and waits until the other threads have done the same. */
    private void settle() {
        long start = System.nanoTime();
        attempt(() -> commitAll(start + DRAIN_NANOS, start + SETTLE_NANOS));
        prefixes.clear(); // What closing the consumer revokes is committed, or has been told of.
        mirror.onThreadSettled();
        attempt(() -> awaitOthers(start + SETTLE_NANOS));
    }

    private void commitAll(long drainDeadline, long deadline) {
        drain(prefixes.partitions(), drainDeadline);
        while (!commitUnlessRebalancing(deadline)) {
            if (System.nanoTime() > deadline) {
                reportRepeats("A rebalance of the group kept the last records of " + prefixes.partitions()
                        + " from being committed; they will be mirrored again");
                return;
            }
            pollPaused();
        }
    }

    private void awaitOthers(long deadline) {
        while (!mirror.areAllSettled() && System.nanoTime() < deadline) {
            pollPaused();
        }
    }

    /** Takes part in the rebalance that may be under way. */
    private void pollPaused() {
        consumer.pause(consumer.assignment());
        // Of a partition just assigned there may be some. It is not sent, so it is not committed.
        ConsumerRecords<byte[], byte[]> unused = consumer.poll(BUSY_POLL);
    }

    /** Commits; returns whether there is nothing to try again after taking part in a rebalance. */
    private boolean commitUnlessRebalancing(long deadline) {
        Map<TopicPartition, OffsetAndMetadata> positions = prefixes.positions(prefixes.partitions());
        try {
            warnOfGone(commits.commit(positions, deadline));
        } catch (RebalanceInProgressException e) {
            return false;
        } catch (KafkaException e) {
            reportUncommitted(positions, e);
        }
        return true;
    }

    private void attempt(Runnable step) {
        try {
            step.run();
        } catch (Throwable failure) {
            mirror.fail(failure);
        }
    }

    MirrorTotals totals() {
        return counters.totals(System.nanoTime());
    }
}
