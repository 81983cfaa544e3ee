package dev.millrace.mirror;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
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
    private static final long DRAIN_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final long SETTLE_NANOS = TimeUnit.SECONDS.toNanos(22);
    private static final long DRAIN_CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Mirror mirror;
    private final Consumer<byte[], byte[]> consumer;
    private final java.util.function.Consumer<TopicPartition> ensureTarget;
    private final MirrorObserver observer;
    private final MirrorObserver.Sender sender;
    private final ThreadCounters counters = new ThreadCounters();
    private final Map<TopicPartition, AckedPrefix> prefixes = new HashMap<>();
    private final Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>();
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
    }

    /** Mirrors until the mirror stops; a failure of any kind, an Error too, stops the mirror. */
    @Override
    public void run() {
        try {
            consumer.subscribe(mirror.topics(), this);
            while (mirror.isRunning()) {
                forward(consumer.poll(outstanding() == 0 ? IDLE_POLL : BUSY_POLL));
                advance();
                if (System.nanoTime() - lastCommitNanos > COMMIT_INTERVAL_NANOS) {
                    commitInBackground();
                    counters.setBehind(behind());
                }
            }
        } catch (Throwable failure) {
            mirror.fail(failure);
        } finally {
            settle();
            attempt(consumer::close);
        }
    }

    private void forward(ConsumerRecords<byte[], byte[]> records) {
        if (!records.isEmpty()) {
            observer.polled(records.count());
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
        AckedPrefix prefix = prefixes.get(partition);
        AckedPrefix.Page page = prefix.open(records.size(), next);
        long bytes = 0;
        int sent = 0;
        for (ConsumerRecord<byte[], byte[]> record : records) {
            if (!mirror.isRunning()) {
                break; // What is not sent is not in the prefix, and will be read again.
            }
            try {
                sender.send(copyOf(record), page.add(record.offset()));
            } catch (RuntimeException | Error e) {
                throw prefix.fail(record.offset(), e);
            }
            bytes += Math.max(0, record.serializedKeySize()) + Math.max(0, record.serializedValueSize());
            sent++;
        }
        counters.addSent(sent, bytes);
    }

    private static ProducerRecord<byte[], byte[]> copyOf(ConsumerRecord<byte[], byte[]> record) {
        // Records of the oldest format have no timestamp; the target then gives them one.
        Long timestamp = record.timestamp() < 0 ? null : record.timestamp();
        return new ProducerRecord<>(
                record.topic(), record.partition(), timestamp, record.key(), record.value(), record.headers());
    }

    private void advance() {
        long acked = 0;
        for (Map.Entry<TopicPartition, AckedPrefix> entry : prefixes.entrySet()) {
            AckedPrefix prefix = entry.getValue();
            long more = prefix.advance();
            if (more > 0) {
                acked += more;
                observer.acknowledged(entry.getKey(), prefix.position().offset());
            }
        }
        counters.addAcked(acked);
    }

    private long outstanding() {
        return prefixes.values().stream().mapToLong(AckedPrefix::outstanding).sum();
    }

    private long behind() {
        return prefixes.keySet().stream()
                .mapToLong(partition -> consumer.currentLag(partition).orElse(0))
                .sum();
    }

    private void commitInBackground() {
        lastCommitNanos = System.nanoTime();
        Map<TopicPartition, OffsetAndMetadata> positions = positions(prefixes.keySet());
        positions.entrySet().removeIf(entry -> entry.getValue().equals(committed.get(entry.getKey())));
        if (!positions.isEmpty()) {
            committed.putAll(positions);
            consumer.commitAsync(positions, this::committed);
        }
    }

    private void committed(Map<TopicPartition, OffsetAndMetadata> positions, Exception failure) {
        if (failure == null) {
            return;
        }
        committed.keySet().removeAll(positions.keySet()); // To be tried again.
        if (failure instanceof RebalanceInProgressException) {
            LOG.debug("Commit put off by a rebalance");
        } else {
            LOG.warn("Could not commit yet, will try again: {}", MirrorException.reason(failure));
        }
    }

    private Map<TopicPartition, OffsetAndMetadata> positions(Collection<TopicPartition> partitions) {
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        for (TopicPartition partition : partitions) {
            AckedPrefix prefix = prefixes.get(partition);
            if (prefix != null && prefix.position() != null) {
                positions.put(partition, mirror.marked(prefix.position()));
            }
        }
        return positions;
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        for (TopicPartition partition : partitions) {
            if (mirror.isRunning()) {
                ensureTarget.accept(partition);
            }
            prefixes.put(partition, new AckedPrefix(partition, mirror::fail));
        }
    }

    /** Waits until the partitions' own records are acknowledged, at most 20 s, and commits them. */
    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        drain(partitions);
        Map<TopicPartition, OffsetAndMetadata> positions = positions(partitions);
        forget(partitions);
        try {
            if (!positions.isEmpty()) {
                consumer.commitSync(positions);
            }
        } catch (KafkaException e) {
            giveUp("Could not commit " + positions + ", the last records will be mirrored again: "
                    + MirrorException.reason(e));
        }
    }

    /** Commits nothing: the partitions are somebody else's already. */
    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        if (!positions(partitions).isEmpty() || !outstanding(partitions).isEmpty()) {
            giveUp("Lost " + partitions + " to another member of the group; their last records may be mirrored twice");
        }
        forget(partitions);
    }

    private void drain(Collection<TopicPartition> partitions) {
        long start = System.nanoTime();
        advance();
        for (List<TopicPartition> left = outstanding(partitions); !left.isEmpty(); left = outstanding(partitions)) {
            if (System.nanoTime() - start > DRAIN_NANOS) {
                giveUp("The target has not acknowledged the last records of " + left
                        + " in time; they are not committed, and will be mirrored again");
                return;
            }
            LockSupport.parkNanos(DRAIN_CHECK_NANOS);
            advance();
        }
    }

    private List<TopicPartition> outstanding(Collection<TopicPartition> partitions) {
        return partitions.stream()
                .filter(partition -> {
                    AckedPrefix prefix = prefixes.get(partition);
                    return prefix != null && prefix.outstanding() > 0 && !prefix.hasFailed();
                })
                .toList();
    }

    /** While the mirror runs, records mirrored again are no failure; a mirror that stops has promised to commit all. */
    private void giveUp(String message) {
        if (mirror.isRunning()) {
            LOG.warn(message);
        } else {
            mirror.fail(MirrorException.failed(message));
        }
    }

    private void forget(Collection<TopicPartition> partitions) {
        prefixes.keySet().removeAll(partitions);
        committed.keySet().removeAll(partitions);
    }

    /** Waits for the outstanding records, commits, and waits until the other threads have done the same. */
    private void settle() {
        long deadline = System.nanoTime() + SETTLE_NANOS;
        attempt(() -> commitAll(deadline));
        mirror.settled();
        attempt(() -> awaitOthers(deadline));
    }

    private void commitAll(long deadline) {
        drain(prefixes.keySet());
        while (!isCommitted(deadline)) {
            if (System.nanoTime() > deadline) {
                giveUp("A rebalance of the group kept the last records of " + prefixes.keySet()
                        + " from being committed; they will be mirrored again");
                return;
            }
            pollNothing();
        }
    }

    private void awaitOthers(long deadline) {
        while (!mirror.haveAllSettled() && System.nanoTime() < deadline) {
            pollNothing();
        }
    }

    /** Takes part in the rebalance that may be under way. */
    private void pollNothing() {
        consumer.pause(consumer.assignment());
        // Of a partition just assigned there may be some. It is not sent, so it is not committed.
        ConsumerRecords<byte[], byte[]> unused = consumer.poll(BUSY_POLL);
    }

    private boolean isCommitted(long deadline) {
        Map<TopicPartition, OffsetAndMetadata> positions = positions(prefixes.keySet());
        try {
            if (!positions.isEmpty()) {
                consumer.commitSync(positions, Duration.ofNanos(Math.max(1, deadline - System.nanoTime())));
            }
            prefixes.clear();
            return true;
        } catch (RebalanceInProgressException e) {
            return false;
        }
    }

    private void attempt(Runnable step) {
        try {
            step.run();
        } catch (Throwable failure) {
            mirror.fail(failure);
        }
    }

    ThreadCounters.Totals totals() {
        return counters.totals();
    }
}
