package dev.millrace.mirror.verify;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;

/**
 * 64-bit checksums of records. Two different records have the same one with a probability of 1 in 2^64; who chooses
 * records so that they do is not kept from it.
 */
final class RecordDigest {
    private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long START = 0x243F_6A88_85A3_08D3L;
    private static final long MULTIPLIER = 0x9FB2_1C65_1E98_DF25L;
    /** In place of the length of what is null. */
    private static final long NULL = -1;

    private RecordDigest() {}

    /** Of key, value and headers, and of the timestamp if it counts. */
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

    /** Of a key that is not null. */
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

    /** All bits of both words count for all bits of the result. */
    private static long combine(long digest, long word) {
        long mixed = (Long.rotateLeft(digest, 23) ^ word) * MULTIPLIER;
        mixed ^= mixed >>> 29;
        mixed *= START;
        return mixed ^ mixed >>> 32;
    }
}
