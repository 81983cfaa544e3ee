package dev.millrace.mirror.kafka;

import dev.millrace.kafka.common.compress.Compression;
import dev.millrace.kafka.common.record.internal.MemoryRecords;
import dev.millrace.kafka.common.record.internal.MemoryRecordsBuilder;
import dev.millrace.kafka.common.record.internal.MutableRecordBatch;
import dev.millrace.kafka.common.record.internal.Record;
import dev.millrace.kafka.common.record.internal.RecordBatch;
import java.nio.ByteBuffer;
import java.util.Iterator;
import org.apache.kafka.common.record.TimestampType;

/**
 * Converts batches of the formats v0 and v1 with Kafka's classes. It makes objects for each record; such batches are
 * rare since Kafka 3.
 *
 * <p><b>Threads:</b> any.
 */
public final class OldFormatBatch {
    private OldFormatBatch() {}

    /**
     * Returns the same records in a batch of format v2 without compression, with the offsets and timestamps that a
     * consumer would see.
     *
     * @param batch one batch from position to limit
     * @throws RuntimeException if a checksum or the data is wrong
     */
    public static ByteBuffer toV2(ByteBuffer batch) {
        MutableRecordBatch old = MemoryRecords.readableRecords(batch.slice())
                .batches()
                .iterator()
                .next();
        old.ensureValid();
        Iterator<Record> records = old.iterator();
        Record record = records.next();
        try (MemoryRecordsBuilder converted = MemoryRecords.builder(
                ByteBuffer.allocate(2 * batch.remaining()),
                RecordBatch.CURRENT_MAGIC_VALUE,
                Compression.NONE,
                TimestampType.CREATE_TIME,
                record.offset())) {
            while (true) {
                record.ensureValid();
                converted.appendWithOffset(record.offset(), record.timestamp(), record.key(), record.value());
                if (!records.hasNext()) {
                    return converted.build().buffer();
                }
                record = records.next();
            }
        }
    }
}
