package dev.millrace.client.accumulator;

import dev.millrace.client.raw.BatchLayout;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.Header;

/**
 * Writes one record of a v2 batch: {@code length, attributes, timestamp delta, offset delta, key, value, headers}.
 *
 * <p><b>Threads:</b> any; every caller writes to bytes that it alone has claimed.
 */
public final class RecordEncoder {
    /** The encoding of an empty list of headers: a count of zero. */
    static final byte[] NO_HEADERS = {0};

    /** The most bytes that length, attributes, timestamp delta and offset delta of a record can take together. */
    private static final int MAX_RECORD_OVERHEAD = 5 + 1 + 10 + 5;

    /** The most bytes that the lengths of key and value can take together. */
    private static final int MAX_LENGTHS = 5 + 5;

    private RecordEncoder() {}

    /**
     * Returns the most bytes that a batch of this one record can take before compression, including the batch's header;
     * {@link Integer#MAX_VALUE} if they are more than that. {@code KafkaProducer} compares this with {@code
     * max.request.size} and {@code buffer.memory}.
     */
    public static int batchSizeUpperBound(EncodableRecord record) {
        return batchSizeUpperBound(contentSize(record));
    }

    /** Does the same for a record whose encoded key, value and headers take this many bytes. */
    public static int batchSizeUpperBound(long contentSize) {
        return (int) Math.min(BatchLayout.HEADER_SIZE + MAX_RECORD_OVERHEAD + contentSize, Integer.MAX_VALUE);
    }

    /**
     * Whether {@link #batchSizeUpperBound} is certainly smaller. Faster than that, and exact for nearly all records.
     */
    public static boolean isSmallerThan(EncodableRecord record, long size) {
        long content = (long) lengthOf(record.key()) + lengthOf(record.value()) + record.headers().length;
        return content + BatchLayout.HEADER_SIZE + MAX_RECORD_OVERHEAD + MAX_LENGTHS < size;
    }

    private static int lengthOf(byte[] bytes) {
        return bytes == null ? 0 : bytes.length;
    }

    /**
     * Encodes headers before the claim, so that no code of the application runs between claim and commit.
     *
     * @throws IllegalArgumentException a header without a key
     * @throws RecordTooLargeException no array can hold the encoded headers
     */
    public static byte[] encodeHeaders(Header[] headers) {
        if (headers.length == 0) {
            return NO_HEADERS;
        }
        byte[][] keys = new byte[headers.length][];
        byte[][] values = new byte[headers.length][];
        long size = Varint.sizeOf(headers.length);
        for (int i = 0; i < headers.length; i++) {
            if (headers[i].key() == null) {
                throw new IllegalArgumentException("Header " + i + " has no key");
            }
            keys[i] = headers[i].key().getBytes(StandardCharsets.UTF_8);
            values[i] = headers[i].value();
            size += sizeOf(lengthOrMissing(keys[i])) + sizeOf(lengthOrMissing(values[i]));
        }
        if (size > Integer.MAX_VALUE) {
            throw new RecordTooLargeException(
                    "The headers are " + size + " bytes when serialized, which no batch can hold.");
        }
        byte[] encoded = new byte[(int) size];
        int at = Varint.write(encoded, 0, headers.length);
        for (int i = 0; i < headers.length; i++) {
            at = writeBytes(encoded, at, keys[i]);
            at = writeBytes(encoded, at, values[i]);
        }
        return encoded;
    }

    /** Returns the record's size in bytes without its own length prefix. */
    static long bodySize(int offsetDelta, long timestampDelta, EncodableRecord record) {
        return Varint.sizeOf(offsetDelta) + sizeWithoutOffsetDelta(timestampDelta, contentSize(record));
    }

    /** Returns the part of {@link #bodySize} that is known before the record has a place in a batch. */
    static long sizeWithoutOffsetDelta(long timestampDelta, long contentSize) {
        return 1 + Varint.sizeOf(timestampDelta) + contentSize;
    }

    /** Returns how many bytes key, value and headers take, with their lengths. */
    static long contentSize(EncodableRecord record) {
        return sizeOf(record.keySize()) + sizeOf(record.valueSize()) + record.headers().length;
    }

    /** Writes the record at {@code position} and returns the position after it. */
    static int write(byte[] target, int position, int offsetDelta, long timestampDelta, EncodableRecord record) {
        int bodySize = (int) bodySize(offsetDelta, timestampDelta, record);
        return write(target, position, bodySize, offsetDelta, timestampDelta, record);
    }

    /** Does the same with a known {@link #bodySize}. */
    static int write(
            byte[] target, int position, int bodySize, int offsetDelta, long timestampDelta, EncodableRecord record) {
        int at = writeStart(target, position, bodySize, offsetDelta, timestampDelta);
        at = writeBytes(target, at, record.key());
        at = writeBytes(target, at, record.value());
        System.arraycopy(record.headers(), 0, target, at, record.headers().length);
        return at + record.headers().length;
    }

    /** Writes what precedes a record's key, and returns the position after it. */
    static int writeStart(byte[] target, int position, int bodySize, int offsetDelta, long timestampDelta) {
        int at = Varint.write(target, position, bodySize);
        target[at++] = 0; // attributes: none are defined
        at = Varint.write(target, at, timestampDelta);
        return Varint.write(target, at, offsetDelta);
    }

    /** Returns the bytes of an array with its length, which is -1 if it is missing. The longest ones exceed an int. */
    static long sizeOf(int length) {
        return Varint.sizeOf(length) + Math.max(0L, length);
    }

    private static int lengthOrMissing(byte[] bytes) {
        return bytes == null ? -1 : bytes.length;
    }

    private static int writeBytes(byte[] target, int position, byte[] bytes) {
        if (bytes == null) {
            return Varint.write(target, position, -1);
        }
        int at = Varint.write(target, position, bytes.length);
        System.arraycopy(bytes, 0, target, at, bytes.length);
        return at + bytes.length;
    }
}
