package dev.millrace.mirror.pass;

import dev.millrace.client.raw.BatchLayout;
import dev.millrace.mirror.kafka.Decompressor;
import dev.millrace.mirror.kafka.OldFormatBatch;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.kafka.common.errors.CorruptRecordException;

/**
 * Reads the records of one batch after the other, without an object for each record. For a record it gives the offset,
 * the timestamp, and the bytes from its key length on: key, value and headers in format v2, which a new batch takes
 * unchanged.
 *
 * <p>Uncompressed batches are read in place. Others are decompressed piece by piece into one reused buffer. It has room
 * for one piece or for the largest record, whatever the decompressed size of a batch, and grows only as bytes arrive.
 * Batches in an older format are converted first, by Kafka's classes.
 *
 * <p><b>Threads:</b> one.
 */
public final class RecordCursor implements AutoCloseable {
    private static final int PIECE_BYTES = 64 << 10;

    /** A buffer that a huge record has grown beyond this size is dropped when the batch is closed. */
    private static final int KEPT_BYTES = 1 << 20;

    private static final int MAX_LENGTH_BYTES = 5;
    private static final byte[] NONE = {};

    private final Decompressor decompressor = new Decompressor();
    private final SourceBatch converted = new SourceBatch();
    private byte[] buffer = NONE;

    /** Fields of the batch. Its unread bytes are {@code [at, end)} of {@code bytes}, and then those of {@code rest}. */
    private long baseOffset;

    private long baseTimestamp;
    private long logAppendTime;
    private boolean isLogAppendTime;
    private long from;
    private int unread;
    private byte[] bytes = NONE;
    private int at;
    private int end;
    private InputStream rest;

    /** Fields of the record. */
    private long offset;

    private long timestamp;
    private int start;

    /**
     * Starts before the first record of the batch that has {@code fromOffset} or a later one. The fetched bytes must
     * stay as they are until the last record has been read; the flyweight over them may move on.
     *
     * @throws CorruptRecordException if the checksum or the compressed data is wrong
     */
    public void open(SourceBatch batch, long fromOffset) {
        close();
        batch.checkIntegrity();
        from = fromOffset;
        baseOffset = batch.baseOffset();
        if (batch.isOldFormat()) {
            converted.wrap(convert(batch));
            converted.moveToNext();
            openV2(converted);
        } else {
            openV2(batch);
        }
    }

    private ByteBuffer convert(SourceBatch batch) {
        try {
            return OldFormatBatch.toV2(batch.bytes());
        } catch (RuntimeException e) {
            throw corrupt("cannot be converted from its older format", e);
        }
    }

    private void openV2(SourceBatch batch) {
        baseOffset = batch.baseOffset();
        baseTimestamp = batch.baseTimestamp();
        isLogAppendTime = batch.isLogAppendTime();
        logAppendTime = batch.maxTimestamp();
        if (batch.count() > 0) {
            ByteBuffer records = batch.bytes().duplicate();
            records.position(records.position() + BatchLayout.HEADER_SIZE);
            openRecords(batch.codecId(), records);
        }
        unread = batch.count();
    }

    private void openRecords(int codecId, ByteBuffer records) {
        if (codecId != 0) {
            try {
                rest = decompressor.decompress(codecId, records);
            } catch (RuntimeException e) {
                throw corrupt("cannot be decompressed", e);
            }
            useBuffer(PIECE_BYTES);
        } else if (records.hasArray()) {
            bytes = records.array();
            at = records.arrayOffset() + records.position();
            end = at + records.remaining();
        } else {
            int size = records.remaining();
            useBuffer(size);
            records.get(bytes, 0, size);
            end = size;
        }
    }

    private void useBuffer(int size) {
        if (buffer.length < size) {
            buffer = new byte[Math.max(size, PIECE_BYTES)];
        }
        bytes = buffer;
        at = 0;
        end = 0;
    }

    /**
     * Moves to the next record; returns false if there is none.
     *
     * @throws CorruptRecordException if the batch does not have exactly the records that it declares
     */
    public boolean moveNext() {
        while (unread > 0) {
            readRecord();
            if (--unread == 0) {
                checkEnd();
            }
            if (offset >= from) {
                return true;
            }
        }
        return false;
    }

    public long offset() {
        return offset;
    }

    /** Returns the timestamp in milliseconds, as a consumer would see it; -1 if the record has none. */
    public long timestamp() {
        return timestamp;
    }

    /** Returns the array with the record's bytes; array and bytes are valid until the next call on this object. */
    public byte[] array() {
        return bytes;
    }

    /** Returns where in the array the length of the record's key begins. */
    public int start() {
        return start;
    }

    /** Returns the number of bytes from the length of the key to the end of the record. */
    public int length() {
        return at - start;
    }

    /** Gives the buffers back. Not needed after the last record. */
    @Override
    public void close() {
        unread = 0;
        bytes = NONE;
        at = 0;
        end = 0;
        if (rest != null) {
            InputStream stream = rest;
            rest = null;
            try {
                stream.close();
            } catch (IOException e) {
                throw corrupt("cannot be decompressed", e);
            }
        }
        if (buffer.length > KEPT_BYTES) {
            buffer = NONE;
        }
    }

    private void readRecord() {
        if (end - at < MAX_LENGTH_BYTES) {
            fetch(MAX_LENGTH_BYTES);
        }
        int size = readInt(end);
        if (size < 0) {
            throw corrupt("has a record of " + size + " bytes", null);
        }
        if (end - at < size) {
            fetch(size);
            if (end - at < size) {
                throw corrupt("has a record of " + size + " bytes and only " + (end - at) + " bytes left", null);
            }
        }
        int recordEnd = at + size;
        skip(1, recordEnd); // attributes, which are unused
        long timestampDelta = readLong(recordEnd);
        timestamp = isLogAppendTime ? logAppendTime : baseTimestamp + timestampDelta;
        offset = baseOffset + readInt(recordEnd);
        start = at;
        skipContent(recordEnd);
        if (at != recordEnd) {
            throw corrupt("has a record with " + (recordEnd - at) + " bytes after its headers", null);
        }
    }

    /** Skips key, value and headers, but checks their lengths, or no consumer could read the copy. */
    private void skipContent(int recordEnd) {
        skip(readInt(recordEnd), recordEnd);
        skip(readInt(recordEnd), recordEnd);
        int headers = readInt(recordEnd);
        if (headers < 0) {
            throw corrupt("has a record with " + headers + " headers", null);
        }
        for (int i = 0; i < headers; i++) {
            int keySize = readInt(recordEnd);
            if (keySize < 0) {
                throw corrupt("has a header without a key", null);
            }
            skip(keySize, recordEnd);
            skip(readInt(recordEnd), recordEnd);
        }
    }

    /** Skips this many bytes; a negative size stands for null. */
    private void skip(int size, int limit) {
        if (size > limit - at) {
            throw corrupt("has " + size + " bytes in a record that ends after " + (limit - at), null);
        }
        at += Math.max(size, 0);
    }

    private int readInt(int limit) {
        if (at < limit && bytes[at] >= 0) { // most lengths take one byte
            int zigzag = bytes[at++];
            return (zigzag >>> 1) ^ -(zigzag & 1);
        }
        long value = readLong(limit);
        if (value != (int) value) {
            throw corrupt("has the length " + value, null);
        }
        return (int) value;
    }

    private long readLong(int limit) {
        long zigzag = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            if (at >= limit) {
                throw corrupt("ends within a record", null);
            }
            byte next = bytes[at++];
            zigzag |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return (zigzag >>> 1) ^ -(zigzag & 1);
            }
        }
        throw corrupt("has a number of more than 64 bits", null);
    }

    /** Decompresses until {@code size} bytes are available from {@code at} on, or no more come. */
    private void fetch(int size) {
        if (rest == null) {
            return;
        }
        try {
            System.arraycopy(bytes, at, bytes, 0, end - at);
            end -= at;
            at = 0;
            while (end < size) {
                if (end == buffer.length) {
                    // The buffer grows by doubling, so that a false length takes at most twice the memory of the data.
                    buffer = Arrays.copyOf(buffer, (int) Math.min(size, 2L * end));
                    bytes = buffer;
                }
                int read = rest.read(buffer, end, buffer.length - end);
                if (read <= 0) {
                    return;
                }
                end += read;
            }
        } catch (IOException | RuntimeException e) {
            throw corrupt("cannot be decompressed", e);
        }
    }

    /** Checks the end of the batch. Leaves the buffer unchanged because the last record is in it. */
    private void checkEnd() {
        try {
            if (at != end || (rest != null && rest.read() >= 0)) {
                throw corrupt("has bytes after its last record", null);
            }
            if (rest != null) {
                rest.close();
                rest = null;
            }
        } catch (IOException e) {
            throw corrupt("cannot be decompressed", e);
        }
    }

    private CorruptRecordException corrupt(String what, Throwable cause) {
        unread = 0;
        return new CorruptRecordException("The batch at offset " + baseOffset + " " + what, cause);
    }
}
