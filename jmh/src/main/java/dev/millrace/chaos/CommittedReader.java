package dev.millrace.chaos;

import dev.millrace.testkit.oracle.CommittedReads;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A thread that reads committed transactions while others are open.
 *
 * <p><b>Threads:</b> one runs it, any asks and stops it.
 */
final class CommittedReader implements Runnable {
    private final Map<String, Object> config;
    private final List<TopicPartition> partitions;
    private final CommittedReads reads;
    private final AtomicInteger records = new AtomicInteger();
    private volatile boolean isStopping;
    private volatile String failure = "";

    CommittedReader(Map<String, Object> clientConfig, List<TopicPartition> partitions, CommittedReads reads) {
        config = new HashMap<>(clientConfig);
        config.put("isolation.level", "read_committed");
        config.put("auto.offset.reset", "none"); // a jump in offsets must not go unnoticed
        config.put("metadata.max.age.ms", 5_000);
        config.put("request.timeout.ms", 3_000);
        config.put("default.api.timeout.ms", 10_000);
        this.partitions = partitions;
        this.reads = reads;
    }

    @Override
    public void run() {
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            while (!isStopping) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    reads.add(record);
                    records.incrementAndGet();
                }
            }
        } catch (RuntimeException e) {
            failure = "A consumer: " + e;
        }
    }

    /** How many it has read. */
    int records() {
        return records.get();
    }

    /** The exception that has ended it, in words; empty if none has. */
    String failure() {
        return failure;
    }

    void stop() {
        isStopping = true;
    }
}
