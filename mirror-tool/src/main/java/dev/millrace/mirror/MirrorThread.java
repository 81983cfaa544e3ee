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
 * One consumer of the mirror and the thread that polls it. The thread sends each record to the same partition of the
 * target and commits what has been acknowledged.
 *
 * <p>It never flushes the producer. It commits in the background about once a second, each partition up to its
 * {@link AckedPrefix}. When a partition is revoked, the thread waits for the outstanding records of this partition and
 * commits them; records of its other partitions stay in flight meanwhile.
 *
 * <p>At the end the thread does the same with all its partitions. Then it stays in the group until the other threads
 * have done so, too: leaving causes a rebalance, in which the others could not commit. It also goes on polling, because
 * a rebalance that is under way could not finish without it.
 *
 * <p>The producer limits the speed: when its {@code buffer.memory} is full, {@code send} blocks, and with it this
 * thread. Such a wait always ends: memory is freed when a record is acknowledged, or when it fails after {@code
 * delivery.timeout.ms}, which stops the mirror. So the group need not remove a consumer that polls late: {@code
 * max.poll.interval.ms} is practically infinite, and the group notices a process that hangs by its missing heartbeats.
 * {@code max.block.ms} is longer than {@code delivery.timeout.ms}, so that full memory alone is no failure.
 *
 * <p><b>Threads:</b> {@link #run} in a thread of its own, {@link #totals} in any. The consumer calls the rebalance
 * callbacks within {@code poll} and {@code close}, so in the same thread.
 * <p><b>Ordering:</b> see {@link AckedPrefix} and {@link ThreadCounters}; only the thread uses everything else.
 */
final class MirrorThread implements Runnable, ConsumerRebalanceListener {
    private static final Logger LOG = LoggerFactory.getLogger(MirrorThread.class);

    private static final Duration IDLE_POLL = Duration.ofMillis(200);
    /** Short while acknowledgements are awaited, so that the counters and the positions to commit stay current. */
    private static final Duration BUSY_POLL = Duration.ofMillis(5);

    private static final long COMMIT_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long DRAIN_NANOS = TimeUnit.SECONDS.toNanos(18);
    private static final long DRAIN_AND_COMMIT_NANOS = TimeUnit.SECONDS.toNanos(20);
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
    /** Partitions that no longer existed on the source when they were assigned, so that the target may lack them. */
    private final Set<TopicPartition> notEnsured = new HashSet<>();

    private long lastCommitNanos = System.nanoTime();

    /**
     * @param ensureTarget returns once the target has the partition
     * @param sender of this thread alone
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

    /** Runs until the mirror stops; any failure, also an Error, stops the mirror. */
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
            commitLast();
            attempt(() -> consumer.close(CloseOptions.timeout(CLOSE_TIMEOUT)));
        }
    }

    private void forward(ConsumerRecords<byte[], byte[]> records) {
        if (!records.isEmpty()) {
            observer.onPolled(records.count());
        }
        // After an aborted transaction or a transaction marker alone, the poll has no records but moves the position.
        // A consumer interceptor may have removed the next positions.
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
                    break; // Records that are not sent are not in the prefix, and will be read again.
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
        // Records of the oldest format have no timestamp; the target gives them one.
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

    /** Makes sure that the target has the partition; returns false if the source no longer has it. */
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
     * Waits until the records of these partitions are acknowledged, and commits them, within about 20 s. Does not wait
     * for a topic that was deleted from the source: its offsets cannot be committed, and nobody can read it again.
     */
    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        long start = System.nanoTime();
        Set<TopicPartition> gone = new HashSet<>(source.unsubscribed(partitions));
        giveUp(gone);
        drain(partitions, start + DRAIN_NANOS);
        Map<TopicPartition, OffsetAndMetadata> positions = prefixes.positions(partitions);
        try {
            gone.addAll(commits.commit(positions, start + DRAIN_AND_COMMIT_NANOS));
        } catch (KafkaException e) {
            reportUncommitted(positions, e);
        }
        giveUp(partitions);
        warnOfGone(gone);
    }

    /** Commits nothing: the partitions already belong to another member. */
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
                    + " in time; they are not committed and will be mirrored again");
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
                        "Topic {} has gone from the source, partitions {}; the mirror no longer copies them or commits"
                                + " their progress",
                        topic,
                        partitions));
    }

    private void reportUncommitted(Map<TopicPartition, OffsetAndMetadata> positions, KafkaException cause) {
        reportRepeats("Could not commit " + commits.uncommitted(positions)
                + ", the last records will be mirrored again: " + MirrorException.reason(cause));
    }

    /** Reports that records will be mirrored again: a warning while the mirror runs, but a failure while it stops. */
    private void reportRepeats(String message) {
        if (mirror.isRunning()) {
            LOG.warn(message);
        } else {
            mirror.fail(MirrorException.failed(message));
        }
    }

    /** Waits for the outstanding records, commits them, and waits until the other threads have done the same. */
    private void commitLast() {
        long start = System.nanoTime();
        attempt(() -> commitAll(start + DRAIN_NANOS, start + DRAIN_AND_COMMIT_NANOS));
        prefixes.clear(); // Closing revokes all partitions; by now they are committed or reported.
        mirror.onThreadCommitted();
        attempt(() -> awaitOthers(start + DRAIN_AND_COMMIT_NANOS));
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
        while (!mirror.haveAllCommitted() && System.nanoTime() < deadline) {
            pollPaused();
        }
    }

    /** Polls without reading records, to take part in a rebalance that may be under way. */
    private void pollPaused() {
        consumer.pause(consumer.assignment());
        // A partition assigned just now may return records. They are not sent, so they are not committed.
        ConsumerRecords<byte[], byte[]> unused = consumer.poll(BUSY_POLL);
    }

    /** Commits. Returns false if a rebalance prevented it, so that the caller has to poll and try again. */
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
