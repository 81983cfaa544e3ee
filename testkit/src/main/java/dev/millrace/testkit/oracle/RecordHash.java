package dev.millrace.testkit.oracle;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;

/**
 * A 64-bit hash of what a copy of a record must keep: key, value, headers and timestamp. Each step multiplies to 128
 * bits and combines the halves. It is fast and detects accidents, not attacks.
 */
final class RecordHash {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long SEED = 0x9E37_79B9_7F4A_7C15L;
    private static final long FACTOR = 0xD6E8_FEB8_6659_FD93L;

    /** In place of the length, so that null and empty differ. */
    private static final int NULL = -1;

    private RecordHash() {}

    static long of(ConsumerRecord<byte[], byte[]> record) {
        long hash = mix(SEED, record.timestamp());
        hash = add(hash, record.key());
        hash = add(hash, record.value());
        for (Header header : record.headers()) {
            hash = add(hash, header.key().getBytes(StandardCharsets.UTF_8));
            hash = add(hash, header.value());
        }
        return hash;
    }

    private static long add(long hash, byte[] bytes) {
        if (bytes == null) {
            return mix(hash, NULL);
        }
        long result = mix(hash, bytes.length);
        int i = 0;
        for (; i <= bytes.length - Long.BYTES; i += Long.BYTES) {
            result = mix(result, (long) LONGS.get(bytes, i));
        }
        long rest = 0;
        for (; i < bytes.length; i++) {
            rest = rest << Byte.SIZE | (bytes[i] & 0xFF);
        }
        return mix(result, rest);
    }

    private static long mix(long hash, long word) {
        long a = hash ^ word;
        return a * FACTOR ^ Math.multiplyHigh(a, FACTOR) ^ Long.rotateLeft(hash, 32);
    }
}
