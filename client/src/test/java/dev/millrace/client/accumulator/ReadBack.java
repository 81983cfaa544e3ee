package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.kafka.common.record.internal.MemoryRecords;
import dev.millrace.kafka.common.record.internal.MutableRecordBatch;
import dev.millrace.kafka.common.record.internal.Record;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Reads our batches with Kafka's own classes, as a broker would. */
final class ReadBack {
    private ReadBack() {}

    /** The only batch in the buffer, with a verified checksum. */
    static MutableRecordBatch batch(FinishedBatch finished) {
        MemoryRecords records = MemoryRecords.readableRecords(ByteBuffer.wrap(finished.buffer(), 0, finished.size()));
        List<MutableRecordBatch> batches = new ArrayList<>();
        records.batches().forEach(batches::add);
        assertThat(batches).hasSize(1);
        assertThat(records.validBytes()).isEqualTo(finished.size());
        batches.get(0).ensureValid();
        return batches.get(0);
    }

    static List<Record> records(FinishedBatch finished) {
        List<Record> read = new ArrayList<>();
        for (Record record : batch(finished)) {
            record.ensureValid();
            read.add(record);
        }
        return read;
    }

    static List<String> values(FinishedBatch finished) {
        return records(finished).stream()
                .map(record -> StandardCharsets.UTF_8.decode(record.value()).toString())
                .toList();
    }
}
