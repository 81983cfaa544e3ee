package dev.millrace.mirror.verify;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;

/**
 * 64-bit checksums of records. Two different records have the same checksum with a probability of 1 in 2^64; it does
 * not protect against records chosen to collide.
 */
final class RecordDigest {
    private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long START = 0x243F_6A88_85A3_08D3L;
    private static final long MULTIPLIER = 0x9FB2_1C65_1E98_DF25L;
    /** Stands for the length of a null value. */
    private static final long NULL = -1;

    private RecordDigest() {}

    /** Returns the digest of key, value and headers, and of the timestamp if it counts. */
    static long of(ConsumerRecord<byte[], byte[]> record, boolean isWithTimestamp) {
        long digest = isWithTimestamp ? combine(START, record.timestamp()) : START;
        digest = combine(digest, record.key());
        digest = combine(digest, record.value());
        for (Header header : record.headers()) {
            digest = combine(digest, header.key().getBytes(StandardCharsets.UTF_8));
            digest = combine(digest, header.value());
        }
        return digest;
    }

    /** Returns the digest of a key that is not null. */
    static long ofKey(byte[] key) {
        return combine(START, key);
    }

    private static long combine(long digest, byte[] bytesOrNull) {
        if (bytesOrNull == null) {
            return combine(digest, NULL);
        }
        long next = combine(digest, bytesOrNull.length);
        int words = bytesOrNull.length / Long.BYTES;
        for (int word = 0; word < words; word++) {
            next = combine(next, (long) WORD.get(bytesOrNull, word * Long.BYTES));
        }
        long rest = 0;
        for (int i = words * Long.BYTES; i < bytesOrNull.length; i++) {
            rest = rest << Byte.SIZE | Byte.toUnsignedLong(bytesOrNull[i]);
        }
        return combine(next, rest);
    }

    /** Mixes both words so that all of their bits affect all bits of the result. */
    private static long combine(long digest, long word) {
        long mixed = (Long.rotateLeft(digest, 23) ^ word) * MULTIPLIER;
        mixed ^= mixed >>> 29;
        mixed *= START;
        return mixed ^ mixed >>> 32;
    }
}
