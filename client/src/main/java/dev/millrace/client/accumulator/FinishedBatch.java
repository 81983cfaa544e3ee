package dev.millrace.client.accumulator;

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
    private byte[] buffer;
    private CallbackSlots callbacks;
    private int count;
    private int size;
    private int payloadChecksum;
    private int uncompressedSize;
    private int maxRecordSize;
    private Throwable failure;

    private int sequence = NO_SEQUENCE;
    private int attempts;
    private boolean inFlight;
    private boolean decided;
    private boolean accepted;
    private boolean delivered;

    /** Made together with the open batch, so that finishing it cannot fail for want of memory. */
    FinishedBatch(PartitionQueue queue, BatchResult result, CallbackSlots callbacks, byte[] buffer, long createdMs) {
        this.queue = queue;
        this.result = result;
        this.callbacks = callbacks;
        this.buffer = buffer;
        this.createdMs = createdMs;
    }

    /** The last writer's: everything in {@code [0, end)} but producer id, sequence and checksum is written. */
    void finish(int end, int records) {
        size = end;
        count = records;
        payloadChecksum = Crc32c.of(buffer, BatchHeader.SIZE, end);
    }

    /** The last writer's: what metrics want to know beside. */
    void measure(int uncompressedEnd, int maxRecordSizeUpperBound) {
        uncompressedSize = uncompressedEnd;
        maxRecordSize = maxRecordSizeUpperBound;
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

    public boolean inFlight() {
        return inFlight;
    }

    public void sent() {
        attempts++;
        inFlight = true;
    }

    public void settled() {
        inFlight = false;
    }

    /** Whether success or failure is known. */
    public boolean decided() {
        return decided;
    }

    /** Fixes what futures and callbacks will be told by {@link #deliver}; only the first decision counts. */
    public void decide(long baseOffset, long logAppendTime, RuntimeException error) {
        if (!decided) {
            decided = true;
            accepted = error == null;
            result.decide(baseOffset, logAppendTime, error);
        }
    }

    /** Whether success is known. */
    public boolean accepted() {
        return accepted;
    }

    public boolean delivered() {
        return delivered;
    }

    /** Runs the callbacks in offset order, then completes the futures. What a callback throws is logged. */
    public void deliver() {
        delivered = true;
        if (!callbacks.isEmpty()) {
            for (int i = 0; i < count; i++) {
                RecordFuture.WithCallback future = callbacks.get(i);
                if (future != null) {
                    run(future);
                }
            }
        }
        callbacks = null; // they are the application's objects, and this one may still wait for its request
        result.publish();
    }

    private void run(RecordFuture.WithCallback future) {
        try {
            future.run();
        } catch (Throwable t) { // an Error of the application's code must not stop the other records
            log.error("The callback of a record of {} threw", partition(), t);
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
            queue.release(free);
        }
    }
}
