package dev.millrace.client.accumulator;

import dev.millrace.client.delivery.DeliveryCertainty;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.CorruptRecordException;

/**
 * A batch that no writer touches any more: its bytes and memory ({@link BatchBytes}), what is known about its writes at
 * the broker ({@link BrokerWrites}), and its outcome and delivery ({@link BatchDelivery}).
 *
 * <p><b>Threads:</b> finished by its last writer, which publishes it through {@link OpenBatch}; after that only the I/O
 * thread uses it.
 */
public final class FinishedBatch {
    /** The value of {@link #sequence()} before one is given. */
    public static final int NO_SEQUENCE = -1;

    private final PartitionQueue queue;
    private final long createdMs;
    private final BatchBytes bytes;
    private final BrokerWrites writes;
    private final BatchDelivery delivery;

    private final boolean passed;

    /** The codec of its records, and of its parts if it is split; null until they are encoded. */
    private BatchCodec codec;

    private boolean isCounted = true;
    private int count;
    private int maxRecordSize;
    private Throwable unwritableCause;
    private RuntimeException withdrawalCause;

    /** Created together with the open batch, so that finishing needs no memory that may be missing by then. */
    FinishedBatch(PartitionQueue queue, BatchResult result, BatchCallbacks callbacks, byte[] buffer, long createdMs) {
        this.queue = queue;
        this.createdMs = createdMs;
        this.bytes = new BatchBytes(buffer, buffer.length);
        this.writes = new BrokerWrites();
        this.delivery = new BatchDelivery(result, callbacks);
        this.passed = false;
    }

    /** Creates a batch that was made elsewhere. */
    FinishedBatch(PartitionQueue queue, BatchResult result, PassedBatch given) {
        this.queue = queue;
        this.createdMs = given.passedMs();
        this.bytes = given.bytes();
        this.writes = new BrokerWrites();
        this.delivery = new BatchDelivery(result, new BatchCallbacks());
        this.codec = given.codec();
        this.passed = true;
        this.count = given.count();
    }

    private FinishedBatch(FinishedBatch whole, int firstRecord, byte[] buffer) {
        this.queue = whole.queue;
        this.createdMs = whole.createdMs;
        this.bytes = new BatchBytes(buffer, 0);
        this.writes = whole.writes.forPart();
        this.delivery = whole.delivery.forPart(firstRecord);
        this.passed = false; // its records are encoded here
        this.maxRecordSize = whole.maxRecordSize;
    }

    // ---- the last writer ----

    /** Compresses the records up to {@code end} and writes the header, except producer id, sequence and checksum. */
    void encode(BatchCodec with, int end, int records, long baseTimestamp, long maxTimestamp) {
        codec = with;
        bytes.encode(with, end, records, baseTimestamp, maxTimestamp);
        count = records;
    }

    /** Notes the size of the largest record, for metrics. */
    void setMaxRecordSize(int upperBound) {
        maxRecordSize = upperBound;
    }

    /** Gives back memory that the batch turned out not to need. */
    void trim() {
        bytes.trim(queue.pool());
    }

    /** The batch must not be sent. */
    void markUnwritable(int records, Throwable cause) {
        count = records;
        unwritableCause = cause;
    }

    // ---- the I/O thread: contents ----

    /** Whether this batch could not be written and must not be sent. */
    public boolean isUnwritable() {
        return unwritableCause != null;
    }

    /** Returns why it {@link #isUnwritable}. */
    public KafkaException failure() {
        return new KafkaException(
                "A batch of " + count + " records for " + partition() + " could not be written", unwritableCause);
    }

    public TopicPartition partition() {
        return queue.partition();
    }

    public int count() {
        return count;
    }

    /** Returns the bytes on the wire. */
    public int size() {
        return bytes.size();
    }

    /** Returns the records' bytes on the wire per byte before compression. */
    public double compressionRatio() {
        return bytes.compressionRatio();
    }

    /** Whether it was made elsewhere, so that its records are unknown. The parts of a split one are encoded here. */
    public boolean isPassed() {
        return passed;
    }

    /**
     * Returns an upper bound for the bytes that the largest record would take alone in a batch, without compression; 0
     * if it is not known.
     */
    public int maxRecordSize() {
        return maxRecordSize;
    }

    /** Returns the array whose bytes {@code [0, size())} are the batch; null once they are released. */
    public byte[] buffer() {
        return bytes.buffer();
    }

    public long createdMs() {
        return createdMs;
    }

    // ---- the I/O thread: on its way to the broker ----

    /** Marks the batch as part of a transaction. {@link #stamp} it afterwards. */
    public void setTransactional() {
        bytes.setTransactional();
    }

    /** Writes producer id and sequence into the header, then the checksum. */
    public void stamp(long producerId, short producerEpoch, int baseSequence) {
        bytes.stamp(producerId, producerEpoch, baseSequence);
    }

    public int sequence() {
        return bytes.sequence();
    }

    /** Returns the newest timestamp of its records, milliseconds, as the producer set it. */
    public long maxTimestamp() {
        return bytes.maxTimestamp();
    }

    /** Returns how many requests have carried this batch. */
    public int attempts() {
        return writes.attempts();
    }

    /** Returns the leader's term in which it was last sent: the argument of {@link #markSent}. */
    public int sentInTerm() {
        return writes.sentInTerm();
    }

    public boolean isInFlight() {
        return writes.isInFlight();
    }

    /** The batch is in flight and must not be sent again. */
    public void withdraw(RuntimeException cause) {
        withdrawalCause = cause;
    }

    /** Returns why it must not be sent again, or null. */
    public RuntimeException withdrawalCauseOrNull() {
        return withdrawalCause;
    }

    /** The batch is sent to the leader whose term has this number. */
    public void markSent(int leaderTerm) {
        writes.markSent(leaderTerm);
    }

    /**
     * The request that carried the batch is answered, or its connection lost.
     *
     * @param nothingWritten whether it is certain that this attempt wrote nothing
     */
    public void onRequestEnded(boolean nothingWritten) {
        writes.onRequestEnded(nothingWritten);
    }

    /** The leader has said that the batch is not in its log, whatever the attempts left open. Not while in flight. */
    public void onAbsent() {
        writes.onAbsent();
    }

    /** The absence no longer counts, because a request that arrived late may have written the batch since. */
    public void onAbsenceOver() {
        writes.onAbsenceOver();
    }

    /** Whether the batch, if it has failed, may be written nevertheless. */
    public boolean isPossiblyWritten() {
        return writes.certaintyOfFailure() == DeliveryCertainty.POSSIBLY_PERSISTED;
    }

    /** Returns what is known about whether the batch is in the log. */
    public Evidence evidence() {
        return isAccepted() ? Evidence.ACKNOWLEDGED : writes.evidence();
    }

    /**
     * Splits the batch into smaller ones, which take over its records, callbacks and age, and divide its reserved
     * {@code buffer.memory} among themselves. Allowed only while it is not in flight, has no outcome, and has more than
     * one record.
     *
     * @param replaceWhole puts the parts in the place of this batch. There are at least two, each a single record or at
     *     most half of this one's bytes before compression. If it throws, or memory is lacking before that, this batch
     *     is still whole.
     * @throws CorruptRecordException it {@link #isPassed} and its records are corrupt; it is still whole
     */
    public void splitIntoParts(Consumer<List<FinishedBatch>> replaceWhole) {
        if (isInFlight() || isDecided() || count < 2) {
            throw new IllegalStateException("A batch of " + count + " records for " + partition() + " cannot be split");
        }
        List<FinishedBatch> parts = passed ? cutPassed() : cut();
        int[] firstRecords = new int[parts.size()];
        BatchResult[] results = new BatchResult[parts.size()];
        int left = bytes.reserved();
        for (int i = 0; i < results.length; i++) {
            FinishedBatch part = parts.get(i);
            boolean last = i == results.length - 1;
            int share = last ? left : Math.min(left, part.size());
            part.bytes.shrink(share);
            left -= share;
            firstRecords[i] = part.delivery.firstRecordIn(delivery);
            results[i] = part.delivery.result();
        }
        replaceWhole.accept(parts);
        bytes.onSplit(); // from here on nothing can throw
        delivery.forwardToParts(firstRecords, results);
    }

    private List<FinishedBatch> cut() {
        return new BatchSplitter(this, codec, queue.pool().batchSize()).split();
    }

    /** Cuts a passed batch. Its parts get checksums of what is read here, so corrupt bytes must not get that far. */
    private List<FinishedBatch> cutPassed() {
        if (!bytes.isPayloadIntact()) {
            throw new CorruptRecordException("A batch of " + count + " records that was passed on to " + partition()
                    + " is too large, and cannot be split: its records do not have the checksum of the batch");
        }
        try {
            return cut();
        } catch (Throwable t) { // whatever another producer wrote there must not end the I/O thread
            throw new CorruptRecordException(
                    "A batch of " + count + " records that was passed on to " + partition()
                            + " is too large, and cannot be split",
                    t);
        }
    }

    /** Returns a part of this batch, starting at this record; its records are encoded in {@code buffer}. */
    FinishedBatch part(int firstRecord, byte[] buffer) {
        return new FinishedBatch(this, firstRecord, buffer);
    }

    // ---- the I/O thread: its outcome ----

    /** Whether success or failure is known. */
    public boolean isDecided() {
        return delivery.isDecided();
    }

    /** Whether success is known. */
    public boolean isAccepted() {
        return delivery.isAccepted();
    }

    /** Whether all callbacks have run and the futures are complete. */
    public boolean isDelivered() {
        return delivery.isDelivered();
    }

    /** Sets what {@link #deliver} will tell futures and callbacks; only the first outcome counts. */
    public void decide(long baseOffset, long logAppendTime, RuntimeException error) {
        DeliveryCertainty certainty = error == null ? DeliveryCertainty.PERSISTED : writes.certaintyOfFailure();
        delivery.decide(new BatchOutcome(baseOffset, logAppendTime, error, Map.of(), certainty));
    }

    /** Does the same as {@link #decide} for a success without an answer from the broker: {@code acks=0}. */
    public void decideUnacknowledged() {
        delivery.decide(new BatchOutcome(-1, -1, null, Map.of(), DeliveryCertainty.POSSIBLY_PERSISTED));
    }

    /**
     * Does the same as {@link #decide} for a failure with separate reasons for some records, by index in the batch
     * (KIP-467).
     *
     * @param error the error of the other records; its cause is that of the batch
     */
    public void decideFailed(RuntimeException error, Map<Integer, ? extends RuntimeException> recordErrors) {
        delivery.decide(new BatchOutcome(-1, -1, error, recordErrors, writes.certaintyOfFailure()));
    }

    /** Its records were given up; the metrics do not count them as failed. */
    public void leaveUncounted() {
        isCounted = false;
    }

    /** Whether its failure counts in the metrics. */
    public boolean isCounted() {
        return isCounted;
    }

    /** Returns why the batch failed once it {@link #isDecided}, or null if it was accepted. */
    public RuntimeException error() {
        return delivery.error();
    }

    /**
     * Runs the callbacks in offset order, then completes the futures. Exceptions of callbacks are logged. Throws if
     * there is no memory for a callback's arguments; the next call continues with that callback.
     */
    public void deliver() {
        delivery.deliver(count);
    }

    /**
     * Gives the memory back; later calls do nothing. Allowed only after the batch's request is answered or its
     * connection lost.
     */
    public void release() {
        if (isInFlight()) {
            throw new IllegalStateException("Batch of " + partition() + " is released while in flight");
        }
        bytes.release(queue.pool());
    }
}
