package dev.millrace.mirror.fetch;

import static dev.millrace.client.raw.BatchLayout.*;

import java.nio.ByteBuffer;
import org.apache.kafka.common.errors.CorruptRecordException;

/**
 * Walks over record batches by their headers, to find how many bytes are whole batches and where the next batch begins.
 * It treats messages of formats 0 and 1 as batches of one record, because their headers have the same layout up to the
 * format.
 *
 * <p><b>Threads:</b> the fetch thread.
 */
final class BatchWalk {
    private static final int MIN_LENGTH_OLD = 14;
    private static final int MIN_LENGTH = 49;

    private int wholeBytes;
    private long nextOffset;
    private int leaderEpoch;
    private long records;

    /**
     * Walks over {@code bytes} without changing their position.
     *
     * @throws CorruptRecordException a header is impossible
     */
    void walk(ByteBuffer bytes) {
        int start = bytes.position();
        int at = start;
        nextOffset = -1;
        leaderEpoch = -1;
        records = 0;
        while (bytes.limit() - at > MAGIC_AT) {
            int length = bytes.getInt(at + LENGTH_AT);
            byte magic = bytes.get(at + MAGIC_AT);
            checkHeader(length, magic, bytes.getLong(at));
            if (length > bytes.limit() - at - LENGTH_END) {
                break;
            }
            addBatch(bytes, at, magic);
            at += LENGTH_END + length;
        }
        wholeBytes = at - start;
    }

    private static void checkHeader(int length, byte magic, long baseOffset) {
        if (magic < 0 || magic > MAGIC_V2 || length < (magic == MAGIC_V2 ? MIN_LENGTH : MIN_LENGTH_OLD)) {
            throw new CorruptRecordException("At offset " + baseOffset + " is a batch of " + length
                    + " bytes in message format " + magic + ": that is no header of a batch");
        }
    }

    private void addBatch(ByteBuffer bytes, int at, byte magic) {
        long baseOffset = bytes.getLong(at);
        if (magic == MAGIC_V2) {
            nextOffset = baseOffset + bytes.getInt(at + LAST_OFFSET_DELTA_AT) + 1;
            leaderEpoch = bytes.getInt(at + LEADER_EPOCH_AT);
            records += bytes.getInt(at + COUNT_AT);
        } else { // the offset of a compressed set is that of its last message
            nextOffset = baseOffset + 1;
            leaderEpoch = -1;
            records++;
        }
    }

    /** Returns the bytes of all whole batches. */
    int wholeBytes() {
        return wholeBytes;
    }

    /** Returns the offset after the last whole batch. */
    long nextOffset() {
        return nextOffset;
    }

    /** Returns the leader epoch of the last whole batch; -1 if it has none. */
    int leaderEpoch() {
        return leaderEpoch;
    }

    long records() {
        return records;
    }
}
