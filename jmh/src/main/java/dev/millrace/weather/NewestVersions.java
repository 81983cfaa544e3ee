package dev.millrace.weather;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** The newest record of each key of a compacted topic: what either side must have, whenever it removes the others. */
final class NewestVersions implements Predicate<ConsumerRecord<byte[], byte[]>> {
    private final Map<Key, Integer> numbers = new HashMap<>();

    private record Key(int partition, ByteBuffer bytes) {
        static Key of(ConsumerRecord<byte[], byte[]> record) {
            return new Key(record.partition(), ByteBuffer.wrap(record.key()));
        }
    }

    /** @param record the next one of its partition */
    void note(ConsumerRecord<byte[], byte[]> record) {
        numbers.put(Key.of(record), SourceTopic.number(record));
    }

    /** Whether it is the newest of its key, or its copy. */
    @Override
    public boolean test(ConsumerRecord<byte[], byte[]> record) {
        return numbers.getOrDefault(Key.of(record), -1) == SourceTopic.number(record);
    }
}
