package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.kafka.common.header.internals.RecordHeader;
import dev.millrace.kafka.common.record.internal.Record;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.apache.kafka.common.header.Header;

/** A record in the application's form, to be compared with what Kafka's own classes read back. */
record TestRecord(long timestamp, byte[] key, byte[] value, Header[] headers) {
    static final Header[] NO_HEADERS = {};

    static TestRecord ofValue(String value) {
        return new TestRecord(1_000, null, value.getBytes(StandardCharsets.UTF_8), NO_HEADERS);
    }

    static TestRecord ofSize(int valueSize) {
        return new TestRecord(1_000, null, new byte[valueSize], NO_HEADERS);
    }

    /** Every part may be absent, empty, or of any length up to {@code maxPart}. */
    static TestRecord random(Random random, int maxPart) {
        Header[] headers = new Header[random.nextInt(3) == 0 ? random.nextInt(5) : 0];
        for (int i = 0; i < headers.length; i++) {
            headers[i] = new RecordHeader(random.nextBoolean() ? "k" + i : "ключ-✓-𝄞", bytes(random, maxPart));
        }
        long timestamp = random.nextInt(20) == 0 ? random.nextLong() >>> 1 : 1_700_000_000_000L + random.nextInt(5_000);
        return new TestRecord(timestamp, bytes(random, maxPart), bytes(random, maxPart), headers);
    }

    /** Null, empty, or random bytes; lengths around a varint's steps are as likely as long ones. */
    private static byte[] bytes(Random random, int max) {
        int kind = random.nextInt(6);
        if (kind == 0) {
            return null;
        }
        int length = kind == 1 ? 0 : kind == 2 ? 62 + random.nextInt(4) : random.nextInt(max);
        byte[] bytes = new byte[Math.min(length, max)];
        random.nextBytes(bytes);
        return bytes;
    }

    EncodableRecord encodable() {
        return new EncodableRecord(timestamp, key, value, RecordEncoder.encodeHeaders(headers));
    }

    ByteBuffer keyBuffer() {
        return key == null ? null : ByteBuffer.wrap(key);
    }

    ByteBuffer valueBuffer() {
        return value == null ? null : ByteBuffer.wrap(value);
    }

    void assertReadBackAs(Record read) {
        assertThat(read.timestamp()).isEqualTo(timestamp);
        assertThat(read.key()).isEqualTo(keyBuffer());
        assertThat(read.value()).isEqualTo(valueBuffer());
        assertThat(read.headers()).containsExactly(headers);
    }
}
