package dev.millrace.mirror.pass;

import static dev.millrace.client.raw.BatchLayout.*;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.apache.kafka.common.errors.CorruptRecordException;

/**
 * Moves over the batches in the bytes fetched from a partition and gives each one's header fields and bytes. For a
 * batch in an older format (magic 0 and 1) only offset and size are known before it is opened.
 *
 * <p>Only what decides where the next batch begins is checked here. The checksum, which covers all fields from the
 * attributes on, is not: a batch that is passed carries it to the target, which checks it. A caller that does anything
 * else with a batch calls {@link #checkIntegrity} first.
 *
 * <p><b>Threads:</b> one.
 */
public final class SourceBatch {
    private static final int OLD_ATTRIBUTES_AT = 17;

    /** The size of offset, size, checksum, magic, attributes, and the lengths of a null key and a null value. */
    private static final int OLD_FORMAT_MIN_SIZE = 26;

    private static final int UNKNOWN = -1 << 7;
    private static final int LAST_CODEC = 4;

    private final CRC32C crc = new CRC32C();

    /** The fetched bytes; position and limit are those of the batch. */
    private ByteBuffer bytes = ByteBuffer.allocate(0);

    private int start;
    private int end;
    private int allEnd;

    // These are read once because they decide about every batch.
    private byte magic;
    private int attributes;
    private int count;
    private long lastOffset;

    /**
     * Starts before the first batch.
     *
     * @param batches whole batches from position to limit, neither of which is changed
     */
    public void wrap(ByteBuffer batches) {
        bytes = batches.duplicate();
        start = batches.position();
        end = start;
        allEnd = batches.limit();
    }

    /**
     * Moves to the next batch; returns false if there is none.
     *
     * @throws CorruptRecordException if the bytes do not begin with a whole batch
     */
    public boolean moveToNext() {
        if (end == allEnd) {
            return false;
        }
        int left = allEnd - end;
        if (left < OLD_FORMAT_MIN_SIZE) {
            throw new CorruptRecordException(
                    "The " + left + " bytes after offset " + lastOffset + " are too few for a batch");
        }
        bytes.limit(allEnd);
        long size = LENGTH_END + (long) bytes.getInt(end + LENGTH_AT);
        magic = bytes.get(end + MAGIC_AT);
        if (magic < 0 || magic > MAGIC_V2) {
            throw corruptNext("has magic " + magic + "; known are 0, 1 and 2");
        }
        if (size < (magic == MAGIC_V2 ? HEADER_SIZE : OLD_FORMAT_MIN_SIZE) || size > left) {
            throw corruptNext("says that it has " + size + " bytes, where " + left + " were fetched");
        }
        start = end;
        end = start + (int) size;
        bytes.limit(end).position(start);
        readHeader();
        return true;
    }

    private void readHeader() {
        if (magic < MAGIC_V2) {
            attributes = bytes.get(start + OLD_ATTRIBUTES_AT) & CODEC_MASK;
            count = -1;
            lastOffset = baseOffset();
            return;
        }
        attributes = bytes.getShort(start + ATTRIBUTES_AT);
        count = bytes.getInt(start + COUNT_AT);
        int lastDelta = bytes.getInt(start + LAST_OFFSET_DELTA_AT);
        lastOffset = baseOffset() + lastDelta;
        if (lastDelta < 0 || count < 0 || count - 1 > lastDelta) {
            throw corrupt("has " + count + " records and last offset delta " + lastDelta);
        }
    }

    /**
     * Compares the checksum of the header with that of the bytes. Does nothing for an older format: each of its records
     * has its own checksum, which is compared when the batch is opened.
     *
     * @throws CorruptRecordException if they differ
     */
    public void checkIntegrity() {
        if (isOldFormat()) {
            return;
        }
        crc.reset();
        crc.update(bytes.limit(end).position(start + ATTRIBUTES_AT));
        bytes.position(start);
        int stored = bytes.getInt(start + CRC_AT);
        if ((int) crc.getValue() != stored) {
            throw corrupt("has the checksum " + Integer.toHexString(stored) + ", its bytes have "
                    + Long.toHexString(crc.getValue()));
        }
    }

    /** Returns the whole batch from position to limit; the same buffer at each call, invalid after the next move. */
    public ByteBuffer bytes() {
        return bytes.limit(end).position(start);
    }

    /** Returns the size in bytes, header included. */
    public int size() {
        return end - start;
    }

    /** Whether this is format v0 or v1. The methods below describe v2; for an older batch only the codec is valid. */
    public boolean isOldFormat() {
        return magic < MAGIC_V2;
    }

    /**
     * Returns the first offset of the batch as written; for an older format the last, since its header has no other.
     */
    public long baseOffset() {
        return bytes.getLong(start);
    }

    public long lastOffset() {
        return lastOffset;
    }

    /** Returns where a consumer continues after reading the batch. */
    public long nextOffset() {
        return lastOffset + 1;
    }

    /**
     * Does the same as {@link #nextOffset} for a batch whose header may also be damaged: the result is never after the
     * beginning of the next batch, whose records would otherwise be skipped too.
     *
     * @param position the first wanted offset of the batch
     */
    public long nextOffsetOfDamaged(long position) {
        if (allEnd - end < Long.BYTES) {
            return nextOffset();
        }
        long following = bytes.limit(allEnd).getLong(end);
        bytes.limit(end);
        return following > position ? Math.min(nextOffset(), following) : nextOffset();
    }

    /** Returns the number of records, which compaction may have lowered; -1 for an older format. */
    public int count() {
        return count;
    }

    /** Returns the leader epoch; -1 if it is unknown. */
    public int leaderEpoch() {
        return isOldFormat() ? -1 : bytes.getInt(start + LEADER_EPOCH_AT);
    }

    /** Returns the producer id; -1 if the producer had none. */
    public long producerId() {
        return isOldFormat() ? -1 : bytes.getLong(start + PRODUCER_ID_AT);
    }

    public int codecId() {
        return attributes & CODEC_MASK;
    }

    public boolean isTransactional() {
        return (attributes & TRANSACTIONAL) != 0;
    }

    /** Whether its records are the broker's markers, which no consumer sees. */
    public boolean isControl() {
        return (attributes & CONTROL) != 0;
    }

    public boolean hasDeleteHorizon() {
        return (attributes & DELETE_HORIZON) != 0;
    }

    public boolean isLogAppendTime() {
        return (attributes & LOG_APPEND_TIME) != 0;
    }

    /** Whether its header has attributes that this version of Millrace does not know. */
    public boolean hasUnknownAttributes() {
        return (attributes & UNKNOWN) != 0 || codecId() > LAST_CODEC;
    }

    /** Whether compaction removed records, or the records' offsets are not consecutive as a producer's are. */
    public boolean hasGaps() {
        return lastOffset - baseOffset() != count - 1;
    }

    long baseTimestamp() {
        return bytes.getLong(start + BASE_TIMESTAMP_AT);
    }

    /** Returns the time in ms set by the producer or the source's broker; negative if it is not known. */
    public long maxTimestamp() {
        return isOldFormat() ? -1 : bytes.getLong(start + MAX_TIMESTAMP_AT);
    }

    CorruptRecordException corrupt(String what) {
        return new CorruptRecordException("The batch at offset " + baseOffset() + " " + what);
    }

    private CorruptRecordException corruptNext(String what) {
        return new CorruptRecordException("The batch at offset " + bytes.getLong(end) + " " + what);
    }
}
