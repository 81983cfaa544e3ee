package dev.millrace.mirror.refused;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * Reads a stretch of a source partition again, as the mirror has read it: with its isolation level and its
 * interceptors.
 *
 * <p><b>Threads:</b> one at a time.
 */
public final class StretchReader implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

    private final Consumer<byte[], byte[]> consumer;
    private TopicPartition partition;
    private long until;
    private long position;

    /** @param number distinguishes the clients of several readers */
    public StretchReader(Map<String, Object> consumerConfig, int number) {
        consumer = new KafkaConsumer<>(config(consumerConfig, number));
    }

    private static Map<String, Object> config(Map<String, Object> consumer, int number) {
        Map<String, Object> config = new HashMap<>(consumer);
        config.keySet()
                .removeAll(List.of(
                        ConsumerConfig.GROUP_ID_CONFIG,
                        ConsumerConfig.GROUP_INSTANCE_ID_CONFIG,
                        ConsumerConfig.GROUP_PROTOCOL_CONFIG,
                        ConsumerConfig.GROUP_REMOTE_ASSIGNOR_CONFIG));
        config.computeIfPresent(ConsumerConfig.CLIENT_ID_CONFIG, (key, id) -> id + "-again-" + number);
        config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        config.put(ConsumerConfig.FETCH_MIN_BYTES_CONFIG, 1);
        config.put(ConsumerConfig.CHECK_CRCS_CONFIG, true); // corrupt records must not get a new checksum
        return config;
    }

    /** Prepares to read the records from {@code from} up to, not including, {@code to}. */
    void begin(TopicPartition of, long from, long to) {
        partition = of;
        position = from;
        until = to;
        consumer.assign(List.of(of));
        consumer.seek(of, from);
    }

    /**
     * Returns the next records; null after the last one, if it is told to stop, or if the source no longer has them.
     * Blocks while the source does not answer.
     */
    List<ConsumerRecord<byte[], byte[]>> nextOrNull(BooleanSupplier isStopped) {
        while (position < until && !isStopped.getAsBoolean()) {
            List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
            try {
                ConsumerRecords<byte[], byte[]> polled = consumer.poll(POLL);
                polled.records(partition).stream()
                        .filter(record -> record.offset() < until)
                        .forEach(records::add);
                movePosition(polled, records);
            } catch (InvalidOffsetException e) {
                return null; // the copy that goes on from the position gets the same error
            }
            if (!records.isEmpty()) {
                return records;
            }
        }
        return null;
    }

    private void movePosition(ConsumerRecords<byte[], byte[]> polled, List<ConsumerRecord<byte[], byte[]>> records) {
        OffsetAndMetadata next = polled.nextOffsets().get(partition); // an interceptor may have removed it
        if (next != null) {
            position = Math.min(until, next.offset());
        } else if (!records.isEmpty()) {
            position = records.get(records.size() - 1).offset() + 1;
        }
    }

    /** Ends the reading of the stretch, and drops what was fetched for it. */
    void end() {
        consumer.unsubscribe();
    }

    /** Returns the source offset after what was read. */
    long position() {
        return position;
    }

    @Override
    public void close() {
        consumer.close(CloseOptions.timeout(CLOSE_TIMEOUT));
    }
}
