package dev.millrace.client.accumulator;

import dev.millrace.client.delivery.DeliveryCertainty;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A batch that no writer touches any more: its bytes, and where it stands on its way to the broker.
 *
 * <p><b>Threads:</b> finished by the last writer, who publishes it through {@link OpenBatch}; from then on the I/O thread's
 * alone.
 */
public final class FinishedBatch {
    /** The value of {@link #sequence()} before one is given. */
    public static final int NO_SEQUENCE = -1;

    private static final Logger log = LoggerFactory.getLogger(FinishedBatch.class);

    private final PartitionQueue queue;
    private final BatchResult result;
    private final long createdMs;

    /** Where this batch's first record stands in {@code callbacks}: not at 0 if it is a part of another batch. */
    private final int firstSlot;

    private CallbackSlots callbacks;
    private byte[] buffer;

    /** Bytes of {@code buffer.memory} that come back with this batch. */
    private int reserved;

    private int count;
    private int size;
    private int payloadChecksum;
    private int uncompressedSize;
    private int maxRecordSize;
    private Throwable failure;

    private int sequence = NO_SEQUENCE;
    private int attempts;
    private int sentUnder;
    private boolean inFlight;

    /** An attempt ended without anybody knowing what it did. */
    private boolean mayBeWritten;

    private Doubt doubt;
    private boolean decided;
    private boolean accepted;

    /** How many of its records need no callback any more. */
    private int told;

    private boolean delivered;

    /** Made together with the open batch, so that finishing it cannot fail for want of memory. */
    FinishedBatch(PartitionQueue queue, BatchResult result, CallbackSlots callbacks, byte[] buffer, long createdMs) {
        this.queue = queue;
        this.result = result;
        this.callbacks = callbacks;
        this.firstSlot = 0;
        this.buffer = buffer;
        this.reserved = buffer.length;
        this.createdMs = createdMs;
    }

    private FinishedBatch(FinishedBatch whole, int firstRecord, byte[] buffer) {
        this.queue = whole.queue;
        this.result = new BatchResult(whole.partition(), null);
        this.callbacks = whole.callbacks;
        this.firstSlot = whole.firstSlot + firstRecord;
        this.buffer = buffer;
        this.createdMs = whole.createdMs;
        this.maxRecordSize = whole.maxRecordSize;
        this.mayBeWritten = whole.mayBeWritten;
        this.doubt = whole.doubt;
    }

    /** The last writer's: compresses the records up to {@code end} and puts the header before them. */
    void encode(BatchCodec codec, int end, int records, long baseTimestamp, long maxTimestamp) {
        int compressedEnd = codec.compress(buffer, BatchHeader.SIZE, end);
        boolean gained = compressedEnd != BatchCodec.NO_GAIN;
        int finalEnd = gained ? compressedEnd : end;
        int codecId = gained ? codec.id() : BatchCodec.NONE.id();
        BatchHeader.writeContent(buffer, finalEnd, records, baseTimestamp, maxTimestamp, codecId);
        uncompressedSize = end;
        finish(finalEnd, records);
    }

    /** The last writer's: everything in {@code [0, end)} but producer id, sequence and checksum is written. */
    void finish(int end, int records) {
        size = end;
        count = records;
        payloadChecksum = Crc32c.of(buffer, BatchHeader.SIZE, end);
    }

    /** The last writer's: what metrics want to know beside. */
    void measure(int maxRecordSizeUpperBound) {
        maxRecordSize = maxRecordSizeUpperBound;
    }

    /** The last writer's: gives back memory that the batch turned out not to need. */
    void trim() {
        buffer = queue.trim(buffer, size);
        reserved = buffer.length;
    }

    /** The last writer's: the batch must not be sent. */
    void fail(int records, Throwable cause) {
        count = records;
        failure = cause;
    }

    /** Whether this batch could not be written and must not be sent. */
    public boolean isUnwritable() {
        return failure != null;
    }

    /** Why it {@link #isUnwritable}. */
    public KafkaException failure() {
        return new KafkaException(
                "A batch of " + count + " records for " + partition() + " could not be written: " + failure, failure);
    }

    public TopicPartition partition() {
        return queue.partition();
    }

    public int count() {
        return count;
    }

    /** Bytes on the wire. */
    public int size() {
        return size;
    }

    /** The records' bytes on the wire per byte before compression. */
    public double compressionRatio() {
        return (double) (size - BatchHeader.SIZE) / (uncompressedSize - BatchHeader.SIZE);
    }

    /** Bytes that the largest record would take at most, alone in a batch and not compressed. */
    public int maxRecordSize() {
        return maxRecordSize;
    }

    /** The batch's bytes are {@code [0, size())} of this array; null once they are released. */
    public byte[] buffer() {
        return buffer;
    }

    public long createdMs() {
        return createdMs;
    }

    /** Marks the batch as part of a transaction. {@link #stamp} it afterwards. */
    public void joinTransaction() {
        BatchHeader.setTransactional(buffer);
    }

    /** Writes producer id and sequence into the header and closes it with the checksum. */
    public void stamp(long producerId, short producerEpoch, int baseSequence) {
        sequence = baseSequence;
        BatchHeader.writeProducer(buffer, producerId, producerEpoch, baseSequence);
        BatchHeader.writeChecksum(buffer, payloadChecksum, size - BatchHeader.SIZE);
    }

    public int sequence() {
        return sequence;
    }

    /** The number of requests that have carried this batch. */
    public int attempts() {
        return attempts;
    }

    /** The leadership under which it was last {@link #sent}. */
    public int sentUnder() {
        return sentUnder;
    }

    public boolean inFlight() {
        return inFlight;
    }

    /** Sent to whoever leads the partition in this count of its leaderships. */
    public void sent(int leadership) {
        attempts++;
        sentUnder = leadership;
        inFlight = true;
    }

    /**
     * The batch's request is answered or its connection gone.
     *
     * @param nothingWritten whether it is certain that this attempt wrote nothing
     */
    public void settled(boolean nothingWritten) {
        mayBeWritten |= inFlight && !nothingWritten;
        inFlight = false;
    }

    /**
     * Whether this is a part of a batch that may have been written whole: the broker would not know the part's sequences for
     * a duplicate, so that its objection to them proves nothing.
     */
    public boolean isDoubtful() {
        return doubt != null && doubt.isOpen();
    }

    /** The broker has written this batch and told where: then nothing that it is a part of was written before. */
    public void written() {
        if (doubt != null) {
            doubt.settle();
        }
    }

    /**
     * Cuts the batch into smaller ones, which take over its records, callbacks, memory and age. Only while it is not in
     * flight, not decided, and has more than one record.
     *
     * @param takePlace puts the parts where this batch was; they are at least two, each a single record or at most half of
     *     this one's bytes before compression. If it throws, or memory is lacking before, this batch is still whole.
     */
    public void split(Consumer<List<FinishedBatch>> takePlace) {
        if (inFlight || decided || count < 2) {
            throw new IllegalStateException("A batch of " + count + " records for " + partition() + " cannot be split");
        }
        doubt = mayBeWritten ? new Doubt(doubt) : doubt;
        List<FinishedBatch> parts = new BatchSplitter(this, queue.codec(), queue.batchSize()).split();
        int[] firstRecords = new int[parts.size()];
        BatchResult[] results = new BatchResult[parts.size()];
        int left = reserved;
        for (int i = 0; i < results.length; i++) {
            FinishedBatch part = parts.get(i);
            boolean last = i == results.length - 1;
            part.buffer = Arrays.copyOf(part.buffer, part.size); // what compression has freed
            part.reserved = last ? left : Math.min(left, part.size);
            left -= part.reserved;
            firstRecords[i] = part.firstSlot - firstSlot;
            results[i] = part.result;
        }
        takePlace.accept(parts);
        buffer = null; // from here on nothing can throw
        callbacks = null;
        result.split(firstRecords, results);
    }

    /** A part of this batch, from this record on, to be encoded in {@code buffer}. */
    FinishedBatch part(int firstRecord, byte[] target) {
        return new FinishedBatch(this, firstRecord, target);
    }

    /** Whether success or failure is known. */
    public boolean decided() {
        return decided;
    }

    /** Fixes what futures and callbacks will be told by {@link #deliver}; only the first decision counts. */
    public void decide(long baseOffset, long logAppendTime, RuntimeException error) {
        DeliveryCertainty certainty = error == null ? DeliveryCertainty.PERSISTED : certaintyOfFailure();
        decide(new BatchOutcome(baseOffset, logAppendTime, error, Map.of(), certainty));
    }

    /** As {@link #decide} for a success of which the broker says nothing: {@code acks=0}. */
    public void decideUnacknowledged() {
        decide(new BatchOutcome(-1, -1, null, Map.of(), DeliveryCertainty.POSSIBLY_PERSISTED));
    }

    /** As {@link #decide} for a failure that has its own reason for some records, by index in the batch (KIP-467). */
    public void decideFailed(RuntimeException error, Map<Integer, ? extends RuntimeException> recordErrors) {
        decide(new BatchOutcome(-1, -1, error, recordErrors, certaintyOfFailure()));
    }

    private DeliveryCertainty certaintyOfFailure() {
        return mayBeWritten || inFlight ? DeliveryCertainty.POSSIBLY_PERSISTED : DeliveryCertainty.NOT_PERSISTED;
    }

    private void decide(BatchOutcome outcome) {
        if (!decided) {
            decided = true;
            accepted = outcome.error() == null;
            result.decide(outcome);
        }
    }

    /** Why it was {@link #decided} against the batch; null if it was accepted. */
    public RuntimeException error() {
        return result.outcome().error();
    }

    /** Whether success is known. */
    public boolean accepted() {
        return accepted;
    }

    public boolean delivered() {
        return delivered;
    }

    /**
     * Runs the callbacks in offset order, then completes the futures. What a callback throws is logged. If there is no memory for
     * what a callback is to be told, this throws, and goes on with that callback when it is called again.
     */
    public void deliver() {
        if (!callbacks.isEmpty()) {
            while (told < count) {
                tell(callbacks.get(firstSlot + told), told);
            }
        }
        callbacks = null; // they are the application's objects, and this one may still wait for its request
        delivered = true;
        result.publish();
    }

    private void tell(RecordFuture.WithCallback future, int index) {
        RecordMetadata metadata = future == null ? null : future.metadataFor(result, index);
        told++; // before the callback runs, and only now: each runs once, whatever is thrown
        if (future != null) {
            run(future, metadata, index);
        }
    }

    private void run(RecordFuture.WithCallback future, RecordMetadata metadata, int index) {
        try {
            future.run(result.outcome(), metadata, index);
        } catch (Throwable t) { // an Error of the application's code must not stop the other records
            FailureLog.error(log, "The callback of a record of {} threw", partition(), t);
        }
    }

    /** Gives the memory back. Never before the batch's request is answered or its connection gone. */
    public void release() {
        if (inFlight) {
            throw new IllegalStateException("Batch of " + partition() + " is released while in flight");
        }
        if (buffer != null) {
            byte[] free = buffer;
            buffer = null;
            queue.release(free, reserved);
        }
    }

    /** Whether a batch was written before it was split; shared by its parts, the first of which may settle it for all. */
    private static final class Doubt {
        private final Doubt outer;
        private boolean open = true;

        Doubt(Doubt outer) {
            this.outer = outer;
        }

        boolean isOpen() {
            return open || (outer != null && outer.isOpen());
        }

        void settle() {
            open = false;
            if (outer != null) {
                outer.settle();
            }
        }
    }
}
