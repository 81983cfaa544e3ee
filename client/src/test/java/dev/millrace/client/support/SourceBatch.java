package dev.millrace.client.support;

import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.client.kafka.KafkaBridge;
import dev.millrace.kafka.common.compress.Compression;
import dev.millrace.kafka.common.record.internal.CompressionType;
import dev.millrace.kafka.common.record.internal.MemoryRecords;
import dev.millrace.kafka.common.record.internal.MemoryRecordsBuilder;
import dev.millrace.kafka.common.record.internal.RecordBatch;
import dev.millrace.kafka.common.record.internal.SimpleRecord;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Batches as another cluster has them, made by Kafka's own classes: in the middle of a log, and transactional. */
public final class SourceBatch {
    /** Where the records' checksummed part starts, and where the records do. */
    public static final int CHECKED_AT = 21;

    public static final int RECORDS_AT = 61;

    private SourceBatch() {}

    public static ByteBuffer of(CompressionType codec, List<SimpleRecord> records) {
        ByteBuffer room = ByteBuffer.allocate(1 << 20);
        MemoryRecordsBuilder builder = MemoryRecords.builder(
                room,
                RecordBatch.MAGIC_VALUE_V2,
                Compression.of(codec).build(),
                TimestampType.CREATE_TIME,
                1_234_567,
                RecordBatch.NO_TIMESTAMP,
                77,
                (short) 5,
                123,
                true,
                false,
                9);
        records.forEach(builder::append);
        return builder.build().buffer();
    }

    /** What a producer with the default settings splits them with. */
    public static List<BatchCodec> codecs() {
        ProducerConfig config = new ProducerConfig(Map.of(
                "bootstrap.servers",
                "localhost:1",
                ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG,
                ByteArraySerializer.class,
                ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG,
                ByteArraySerializer.class));
        try (KafkaBridge bridge = new KafkaBridge(config)) {
            return bridge.allCodecs();
        }
    }
}
