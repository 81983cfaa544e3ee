package dev.millrace.mirror.member;

import dev.millrace.mirror.copy.CopyTarget;
import dev.millrace.mirror.progress.CommitParts;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transactions of one mirror process. One is open at a time; it contains all that the workers write, and ends with
 * the source positions after that. After any error the producer is thrown away and another takes its place; what the
 * former one has written is then known from the target alone.
 *
 * <p><b>Threads:</b> the member's thread; workers call {@link #openOrNull}, {@link #enter}, {@link #exit}; any thread
 * {@link #close} and {@link #isTransactionOver}.
 * <p><b>Ordering:</b> a worker writes, and notes what, under the read lock of {@code gate}; the member holds the write
 * lock whenever no transaction is open. So the positions that it reads then are those after everything in the
 * transaction. No thread waits inside the gate: a worker that finds no memory leaves it. Copies of a former producer
 * are stopped before its successor's transaction opens the gate, and check whether they are stopped after they have
 * passed it.
 */
final class TargetTransactions implements CopyTarget {
    private static final Logger LOG = LoggerFactory.getLogger(TargetTransactions.class);
    /** No thread waits inside the gate, so workers only need time for their work. */
    private static final long GATE_WAIT_MS = 1_000;
    /**
     * A coordinator cannot end a former transaction while one of its partitions has no leader; another id need not
     * wait.
     */
    private static final long START_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final String id;
    private final Function<String, Producer<byte[], byte[]>> createProducer;
    private final Function<Producer<byte[], byte[]>, CopyTarget> createTarget;
    private final LongSupplier nanoTime;
    private final ReentrantReadWriteLock gate = new ReentrantReadWriteLock();
    private final AtomicReference<RuntimeException> refusal = new AtomicReference<>();
    private volatile Writer writer;

    // Used by the member's thread only.
    private Phase phase = Phase.STARTING;
    private final Deque<Map<TopicPartition, OffsetAndMetadata>> positionsToAdd = new ArrayDeque<>();
    private int ids;
    private long startingSinceNanos;
    private long takenSinceNanos;
    private long taken;

    private enum Phase {
        /** The producer has no id yet. */
        STARTING,
        OPEN,
        /** Nothing more is written; what was written is not acknowledged yet. */
        AWAITING_RECORDS,
        /** The positions are added to the transaction. */
        ADDING_POSITIONS,
        COMMITTING
    }

    private record Writer(Producer<byte[], byte[]> producer, CopyTarget target) {}

    /**
     * @param id first transactional.id; if the process has to change it, a number is appended
     * @param createProducer of a transactional.id
     * @param createTarget of a producer
     */
    TargetTransactions(
            String id,
            Function<String, Producer<byte[], byte[]>> createProducer,
            Function<Producer<byte[], byte[]>, CopyTarget> createTarget,
            LongSupplier nanoTime) {
        this.id = id;
        this.createProducer = createProducer;
        this.createTarget = createTarget;
        this.nanoTime = nanoTime;
        open();
    }

    private void open() {
        Producer<byte[], byte[]> producer = createProducer.apply(ids == 0 ? id : id + "-" + ids);
        writer = new Writer(producer, createTarget.apply(producer));
        startingSinceNanos = nanoTime.getAsLong();
    }

    // ---- workers ----

    @Override
    public CopyTarget.OpenTarget openOrNull(TopicPartition partition) {
        Writer current = writer;
        try {
            CopyTarget.OpenTarget opened = current.target.openOrNull(partition);
            return opened == null
                    ? null
                    : new CopyTarget.OpenTarget(
                            new TransactionalPartition(opened.raw(), this::onOver), opened.decision());
        } catch (KafkaException e) {
            if (isReplaced(current)) {
                return null; // it was closed meanwhile
            }
            throw e;
        }
    }

    @SuppressWarnings("ReferenceEquality") // each has a producer of its own
    private boolean isReplaced(Writer current) {
        return writer != current;
    }

    @Override
    public void enter() {
        gate.readLock().lock();
    }

    @Override
    public void exit() {
        gate.readLock().unlock();
    }

    private void onOver(RuntimeException why) {
        refusal.compareAndSet(null, why);
    }

    @Override
    public boolean isTransactionOver(Throwable failure) {
        return TransactionErrors.isTransactionOver(failure);
    }

    // ---- the member ----

    /**
     * Opens the first transaction of a producer, if the coordinator answers within {@code max.block.ms}; returns
     * whether one is open.
     *
     * @throws KafkaException the coordinator refuses
     */
    boolean tryStart() {
        if (phase != Phase.STARTING) {
            return true;
        }
        closeGate();
        try {
            writer.producer.initTransactions();
            openNext();
            return true;
        } catch (TimeoutException e) {
            if (nanoTime.getAsLong() - startingSinceNanos > START_PATIENCE_NANOS) {
                ids++;
                replaceProducer();
            }
            return false;
        }
    }

    private void openNext() {
        writer.producer.beginTransaction();
        phase = Phase.OPEN;
        gate.writeLock().unlock();
    }

    private void closeGate() {
        if (!gate.isWriteLockedByCurrentThread()) {
            gate.writeLock().lock();
        }
    }

    /** Returns whether the producer is ready. */
    boolean isStarted() {
        return phase != Phase.STARTING;
    }

    /**
     * Returns how long the target has taken nothing of the ending transaction; 0 if none is ending.
     *
     * @param acked how many records it has acknowledged
     */
    long stalledNanos(long acked) {
        if (phase.compareTo(Phase.OPEN) <= 0) {
            return 0;
        }
        if (acked != taken) {
            taken = acked;
            takenSinceNanos = nanoTime.getAsLong();
        }
        return nanoTime.getAsLong() - takenSinceNanos;
    }

    /**
     * Takes the open transaction a step towards its end, and opens the next one; blocks at most {@code max.block.ms}.
     *
     * @param positions what the transaction adds to the progress; asked for once, when nothing more is written
     * @param areRecordsAnswered asked after that, until all records have their outcome; may block for a moment
     * @param group the member's; if the group has gone on without it, the target refuses the transaction
     * @return whether it is committed, or was empty; otherwise to be called again, with a group that may be newer
     * @throws KafkaException it is over, and {@link #startOver} is needed; whether it was committed may be unknown
     */
    boolean tryCommit(
            Supplier<Map<TopicPartition, OffsetAndMetadata>> positions,
            BooleanSupplier areRecordsAnswered,
            ConsumerGroupMetadata group) {
        RuntimeException refused = refusal.get();
        if (refused != null) {
            throw refused;
        }
        if (phase == Phase.OPEN) {
            if (!tryCloseGate()) {
                return false;
            }
            positionsToAdd.addAll(CommitParts.of(positions.get()));
            if (positionsToAdd.isEmpty()) {
                gate.writeLock().unlock();
                return true;
            }
            takenSinceNanos = nanoTime.getAsLong();
            phase = Phase.AWAITING_RECORDS;
        }
        if (phase == Phase.AWAITING_RECORDS) {
            if (!areRecordsAnswered.getAsBoolean()) {
                return false;
            }
            phase = Phase.ADDING_POSITIONS;
        }
        try {
            if (phase == Phase.ADDING_POSITIONS) {
                while (!positionsToAdd.isEmpty()) {
                    writer.producer.sendOffsetsToTransaction(positionsToAdd.element(), group);
                    positionsToAdd.remove();
                }
                phase = Phase.COMMITTING;
            }
            writer.producer.commitTransaction();
        } catch (TimeoutException e) {
            LOG.debug("The transaction is still ending", e);
            return false;
        }
        openNext();
        return true;
    }

    private boolean tryCloseGate() {
        try {
            return gate.writeLock().tryLock(GATE_WAIT_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    /** Throws away the producer and everything uncommitted. All copies must have been stopped. */
    void startOver() {
        closeGate();
        replaceProducer();
    }

    private void replaceProducer() {
        writer.producer.close(Duration.ZERO);
        refusal.set(null);
        positionsToAdd.clear();
        phase = Phase.STARTING;
        open();
    }

    /**
     * Releases workers whose copies have been stopped, and aborts what is not committed. No transaction is opened
     * again.
     */
    void end() {
        if (gate.isWriteLockedByCurrentThread()) {
            gate.writeLock().unlock();
        }
    }

    // ---- any thread ----

    Map<MetricName, ? extends Metric> producerMetrics() {
        return writer.producer.metrics();
    }

    /** Aborts what is not committed, if the target answers in time. */
    void close(Duration timeout) {
        writer.producer.close(timeout);
    }
}
