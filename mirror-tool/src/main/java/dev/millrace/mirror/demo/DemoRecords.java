package dev.millrace.mirror.demo;

import dev.millrace.mirror.MirrorException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The records of the demo: numbered lines of words, which compress about as well as log lines. */
final class DemoRecords {
    private static final String[] WORDS = {
        "account", "basket", "cancelled", "delivery", "error", "forwarded", "gateway", "handled", "invoice", "joined",
        "kitchen", "latency", "message", "network", "order", "payment", "queued", "refund", "shipped", "timeout"
    };
    /** Records written to one partition before the next one. */
    private static final int RECORDS_PER_TURN = 500;

    private static final int PROGRESS_EVERY = 10_000;

    private DemoRecords() {}

    /**
     * Writes the records with the stock producer. Blocks until all are acknowledged.
     *
     * @param client configuration of a client of the cluster
     * @param progress called with the number of records sent so far
     */
    static void write(
            Map<String, Object> client, String topic, int partitions, long records, int size, LongConsumer progress) {
        client.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, "snappy");
        client.put(ProducerConfig.LINGER_MS_CONFIG, 20);
        client.put(ProducerConfig.BATCH_SIZE_CONFIG, 128 * 1024);
        AtomicReference<Exception> failure = new AtomicReference<>();
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(client, new ByteArraySerializer(), new ByteArraySerializer())) {
            SplittableRandom random = new SplittableRandom(1);
            for (long i = 0; i < records && failure.get() == null; i++) {
                int partition = (int) (i / RECORDS_PER_TURN % partitions);
                Future<?> unused = producer.send(
                        new ProducerRecord<>(topic, partition, null, value(i, size, random)), (metadata, exception) -> {
                            if (exception != null) {
                                failure.compareAndSet(null, exception);
                            }
                        });
                if (i % PROGRESS_EVERY == 0) {
                    progress.accept(i);
                }
            }
        }
        if (failure.get() != null) {
            throw MirrorException.failed("Could not fill the demo's topic", failure.get());
        }
    }

    private static byte[] value(long number, int size, SplittableRandom random) {
        StringBuilder line = new StringBuilder(size + 16).append(number);
        while (line.length() < size) {
            line.append(' ').append(WORDS[random.nextInt(WORDS.length)]);
        }
        line.setLength(size);
        return line.toString().getBytes(StandardCharsets.ISO_8859_1);
    }
}
