package dev.millrace.mirror.pass;

import java.util.Comparator;
import java.util.HashSet;
import java.util.PriorityQueue;
import java.util.Set;

/**
 * Finds the batches of aborted transactions in what was fetched from one partition with {@code read_committed}.
 *
 * <p>The broker's answer lists all aborted transactions that overlap the fetched range, including those that began
 * before it. From a transaction's first offset to its abort marker, the transactional batches of its producer are
 * aborted. The list of an answer is complete, so nothing is kept from one answer to the next: after a jump of the
 * position, or where compaction removed a marker, a producer id kept from before would hide committed records.
 *
 * <p><b>Threads:</b> one, the worker that owns the partition.
 */
public final class AbortedFilter {
    private static final int ABORT = 0;
    private static final int CONTROL_KEY_SIZE = 4;
    private static final int TYPE_AT = 3;

    private record Aborted(long producerId, long firstOffset) {}

    private final RecordCursor markers;
    private final PriorityQueue<Aborted> pending = new PriorityQueue<>(Comparator.comparingLong(Aborted::firstOffset));
    private final Set<Long> producerIds = new HashSet<>();

    /** @param markers reads the records of control batches; not to be used elsewhere during {@link #onBatch} */
    public AbortedFilter(RecordCursor markers) {
        this.markers = markers;
    }

    /** Forgets the previous answer and starts a new one, whose list is added next. */
    public void onAnswer() {
        pending.clear();
        producerIds.clear();
    }

    /** Adds a transaction of the answer's list, in any order. */
    public void addAborted(long producerId, long firstOffset) {
        pending.add(new Aborted(producerId, firstOffset));
    }

    /**
     * Moves on to the answer's next batch. If the batch will not be sent, because it is aborted or a control batch, its
     * checksum is compared here.
     *
     * @throws org.apache.kafka.common.errors.CorruptRecordException if such a batch is corrupt
     */
    public void onBatch(SourceBatch batch) {
        if (pending.isEmpty() && producerIds.isEmpty() && !batch.isControl()) {
            return;
        }
        if (batch.producerId() >= 0) {
            while (!pending.isEmpty() && pending.peek().firstOffset() <= batch.lastOffset()) {
                producerIds.add(pending.remove().producerId());
            }
        }
        if (batch.isControl()) {
            if (isAbortMarker(batch)) {
                producerIds.remove(batch.producerId());
            }
        } else if (isAborted(batch)) {
            batch.checkIntegrity();
        }
    }

    /** Whether the batch passed to the last {@link #onBatch} has records of an aborted transaction. */
    public boolean isAborted(SourceBatch batch) {
        return !producerIds.isEmpty()
                && batch.isTransactional()
                && !batch.isControl()
                && producerIds.contains(batch.producerId());
    }

    private boolean isAbortMarker(SourceBatch batch) {
        try {
            markers.open(batch, batch.baseOffset());
            if (!markers.moveNext()) {
                return false; // compaction removed the marker
            }
            // The key has a version and a type of two bytes each, after its one-byte length.
            byte[] bytes = markers.array();
            int at = markers.start();
            if (bytes[at] >> 1 < CONTROL_KEY_SIZE) {
                throw batch.corrupt("is a control batch whose record has no type");
            }
            return bytes[at + TYPE_AT] == 0 && bytes[at + TYPE_AT + 1] == ABORT;
        } finally {
            markers.close();
        }
    }
}
