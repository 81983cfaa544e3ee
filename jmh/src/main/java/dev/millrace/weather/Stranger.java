package dev.millrace.weather;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Another program that writes to the copy of a topic. What it writes is nobody's copy, so judges leave it out.
 *
 * <p><b>Threads:</b> one.
 */
final class Stranger {
    private static final String HEADER = "stranger";
    private static final int MAX_PAUSE_MS = 1_000;
    private static final Duration CLOSE = Duration.ofSeconds(5);

    private final Side target;
    private final String copy;
    private final Random random;
    private final Map<String, Object> config;

    /** @param copy the topic on the target */
    Stranger(Side target, TopicKind kind, String copy, Random random) {
        this.target = target;
        this.copy = copy;
        this.random = random;
        config = new HashMap<>(target.cluster().clientConfig());
        config.put("compression.type", kind.codec().name); // so that it changes no codec
        config.put("max.block.ms", 2_000);
        config.put("request.timeout.ms", 3_000);
        config.put("delivery.timeout.ms", 5_000);
    }

    static boolean hasWritten(ConsumerRecord<?, ?> record) {
        return record.headers().lastHeader(HEADER) != null;
    }

    /** Writes a record now and then. Blocks until the end. */
    void writeUntil(CountDownLatch end) {
        Producer<byte[], byte[]> producer =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        try {
            while (end.getCount() > 0) {
                writeOne(producer);
                LockSupport.parkNanos(
                        Duration.ofMillis(random.nextInt(MAX_PAUSE_MS)).toNanos());
            }
        } finally {
            producer.close(CLOSE);
        }
    }

    private void writeOne(Producer<byte[], byte[]> producer) {
        try {
            List<TopicPartition> partitions = target.partitions(List.of(copy));
            if (!partitions.isEmpty()) { // else the mirror has not created it yet
                var unused = producer.send(new ProducerRecord<>(
                        copy,
                        Chance.any(partitions, random).partition(),
                        HEADER.getBytes(StandardCharsets.UTF_8),
                        HEADER.getBytes(StandardCharsets.UTF_8),
                        List.of(new RecordHeader(HEADER, new byte[0]))));
            }
        } catch (ExecutionException | TimeoutException | KafkaException e) {
            // The target is away; the next record may be written.
        }
    }
}
