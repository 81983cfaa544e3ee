package dev.millrace.client.accumulator;

import dev.millrace.client.raw.BatchLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Cuts the records of a batch into smaller batches. Timestamp, key, value and headers are copied unchanged; only a
 * record's offset delta changes, which never makes the record longer.
 *
 * <p><b>Threads:</b> one, the I/O thread.
 */
final class BatchSplitter {
    private final FinishedBatch whole;
    private final BatchCodec codec;
    private final long baseTimestamp;
    private final int targetSize;

    /** The uncompressed records not yet split off are {@code [at, end)} of this array. */
    private final byte[] records;

    private final int end;
    private int at;

    /** The number of records before {@code at}. */
    private int moved;

    /** Splits {@code whole}, which has at least two records, into parts of about {@code batchSize}, or into halves. */
    BatchSplitter(FinishedBatch whole, BatchCodec codec, int batchSize) {
        this.whole = whole;
        this.codec = codec;
        byte[] batch = whole.buffer();
        baseTimestamp = BatchHeader.baseTimestamp(batch);
        if (BatchHeader.codecId(batch) == BatchCodec.NONE.id()) {
            records = batch;
            at = BatchLayout.HEADER_SIZE;
            end = whole.size();
        } else {
            records = codec.decompress(batch, BatchLayout.HEADER_SIZE, whole.size());
            end = records.length;
        }
        targetSize = (end - at) / Math.max(2, whole.size() / batchSize);
    }

    /**
     * Returns at least two parts, each a single record or at most half of the bytes, so that repeated splitting ends.
     */
    List<FinishedBatch> split() {
        List<FinishedBatch> parts = new ArrayList<>();
        int firstRecord = 0;
        while (at < end) {
            FinishedBatch part = nextPart(firstRecord);
            parts.add(part);
            firstRecord += part.count();
        }
        if (firstRecord != whole.count()) {
            throw notRecords(firstRecord + " records");
        }
        return parts;
    }

    private FinishedBatch nextPart(int firstRecord) {
        int partEnd = nextPartEnd();
        byte[] batch = new byte[BatchLayout.HEADER_SIZE + partEnd - at];
        int position = BatchLayout.HEADER_SIZE;
        int count = 0;
        long maxTimestamp = Long.MIN_VALUE;
        while (at < partEnd) {
            maxTimestamp = Math.max(maxTimestamp, baseTimestamp + Varint.readLong(records, bodyAt() + 1));
            position = moveRecord(batch, position, count++);
        }
        FinishedBatch part = whole.part(firstRecord, batch);
        part.encode(codec, position, count, baseTimestamp, maxTimestamp);
        return part;
    }

    private int nextPartEnd() {
        int partEnd = recordEnd(at);
        while (partEnd < end && recordEnd(partEnd) - at <= targetSize) {
            partEnd = recordEnd(partEnd);
        }
        return partEnd;
    }

    /**
     * Returns where the record ends. In a batch made elsewhere, lengths may have any value; none may lead backwards.
     */
    private int recordEnd(int position) {
        int bodySize = Varint.readInt(records, position);
        int body = position + Varint.sizeOf(bodySize);
        if (bodySize <= 0 || bodySize > end - body) {
            throw notRecords("one of " + bodySize + " bytes at " + position + " of " + end);
        }
        return body + bodySize;
    }

    private IllegalStateException notRecords(String found) {
        return new IllegalStateException("The batch of " + whole.count() + " records for " + whole.partition()
                + " contains something else: " + found);
    }

    private int bodyAt() {
        return at + Varint.sizeOf(Varint.readInt(records, at));
    }

    /** Copies the record at {@code at} with another offset delta; returns the position after it. */
    private int moveRecord(byte[] target, int position, int offsetDelta) {
        int body = bodyAt();
        int next = recordEnd(at);
        int deltaAt = body + 1 + Varint.sizeOf(Varint.readLong(records, body + 1)); // after attributes and timestamp
        int oldDelta = Varint.readInt(records, deltaAt);
        if (oldDelta != moved) {
            throw notRecords("offset " + oldDelta + " where " + moved + " should be");
        }
        moved++;
        int rest = deltaAt + Varint.sizeOf(oldDelta);
        int to = Varint.write(target, position, next - body - (rest - deltaAt) + Varint.sizeOf(offsetDelta));
        System.arraycopy(records, body, target, to, deltaAt - body);
        to = Varint.write(target, to + deltaAt - body, offsetDelta);
        System.arraycopy(records, rest, target, to, next - rest);
        at = next;
        return to + next - rest;
    }
}
