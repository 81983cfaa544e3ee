package dev.millrace.testkit.oracle;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads all that topics hold now, in the order of each partition. */
final class TopicReader {
    private static final Duration POLL_TIMEOUT = Duration.ofMillis(100);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** For throughput. The oracles have their own checksums and hashes. */
    private static final Map<String, Object> DEFAULTS = Map.of(
            "enable.auto.commit",
            false,
            "auto.offset.reset",
            "earliest",
            "check.crcs",
            false,
            "max.poll.records",
            20_000,
            "max.partition.fetch.bytes",
            4 << 20,
            "receive.buffer.bytes",
            1 << 20);

    private TopicReader() {}

    /**
     * Hands every record to the consumer, in the calling thread, up to the end that each partition had at the start.
     *
     * @param clientConfig wins over the defaults of this class
     * @param afterPoll called after each poll
     * @throws IllegalArgumentException if there is no such topic
     * @throws IllegalStateException if nothing arrives for 60 s though there is more
     */
    static void readAll(
            Map<String, Object> clientConfig,
            Collection<String> topics,
            Consumer<ConsumerRecord<byte[], byte[]>> forEach,
            Runnable afterPoll) {
        Map<String, Object> config = new HashMap<>(DEFAULTS);
        config.putAll(clientConfig);
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = topics.stream()
                    .distinct()
                    .flatMap(topic -> partitions(consumer, topic).stream())
                    .toList();
            consumer.assign(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            Set<TopicPartition> unfinished = new HashSet<>(partitions);
            consumer.seekToBeginning(partitions);
            unfinished.removeIf(partition -> consumer.position(partition) >= ends.get(partition));

            long lastProgress = System.nanoTime();
            while (!unfinished.isEmpty()) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL_TIMEOUT);
                for (TopicPartition partition : records.partitions()) {
                    if (deliver(records.records(partition), ends.get(partition), forEach)) {
                        unfinished.remove(partition);
                    }
                }
                afterPoll.run();
                if (!records.isEmpty()) {
                    lastProgress = System.nanoTime();
                } else if (System.nanoTime() - lastProgress > PATIENCE.toNanos()) {
                    throw new IllegalStateException("Nothing arrived for " + PATIENCE.toSeconds()
                            + " s, though these partitions have more: " + unfinished);
                } else {
                    // A partition that ends with the marker of a transaction never delivers its last offset.
                    unfinished.removeIf(partition -> consumer.position(partition) >= ends.get(partition));
                }
            }
        }
    }

    /** Returns whether the partition is now read to its end. */
    private static boolean deliver(
            List<ConsumerRecord<byte[], byte[]>> records, long end, Consumer<ConsumerRecord<byte[], byte[]>> forEach) {
        for (ConsumerRecord<byte[], byte[]> record : records) {
            if (record.offset() >= end) {
                return true;
            }
            forEach.accept(record);
        }
        return records.get(records.size() - 1).offset() == end - 1;
    }

    private static List<TopicPartition> partitions(KafkaConsumer<byte[], byte[]> consumer, String topic) {
        var partitions = consumer.partitionsFor(topic);
        if (partitions == null || partitions.isEmpty()) {
            throw new IllegalArgumentException("There is no topic " + topic);
        }
        return partitions.stream()
                .map(partition -> new TopicPartition(topic, partition.partition()))
                .toList();
    }
}
