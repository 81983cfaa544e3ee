package dev.millrace.mirror.demo;

import dev.millrace.mirror.text.MirrorException;
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

    /** More than a record's header takes, and than a batch's. */
    private static final int RECORD_OVERHEAD = 64;

    private static final int BATCH_OVERHEAD = 1_024;
    private static final long MIN_MEMORY = 32 << 20;

    private DemoRecords() {}

    /**
     * Writes the records with the stock producer. Blocks until all are acknowledged.
     *
     * @param client configuration of a client of the cluster
     * @param progress called with the number of records sent so far
     */
    static void write(Map<String, Object> client, DemoLoad load, LongConsumer progress) {
        client.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, load.compression());
        boolean isFlushed = load.batchRecords().isPresent();
        if (isFlushed) {
            fillNoBatch(client, load);
        } else {
            client.put(ProducerConfig.LINGER_MS_CONFIG, 20);
            client.put(ProducerConfig.BATCH_SIZE_CONFIG, 128 * 1024);
        }
        int perTurn = load.batchRecords().orElse(RECORDS_PER_TURN);
        long perRound = (long) perTurn * Demo.PARTITIONS;
        AtomicReference<Exception> failure = new AtomicReference<>();
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(client, new ByteArraySerializer(), new ByteArraySerializer())) {
            SplittableRandom random = new SplittableRandom(1);
            for (long i = 0; i < load.records() && failure.get() == null; i++) {
                int partition = (int) (i / perTurn % Demo.PARTITIONS);
                byte[] value = value(i, load.size(), random);
                Future<?> unused = producer.send(
                        new ProducerRecord<>(Demo.TOPIC, partition, null, value), (metadata, exception) -> {
                            if (exception != null) {
                                failure.compareAndSet(null, exception);
                            }
                        });
                if (isFlushed && (i + 1) % perRound == 0) {
                    producer.flush();
                }
                if (i % PROGRESS_EVERY == 0) {
                    progress.accept(i);
                }
            }
        }
        if (failure.get() != null) {
            throw MirrorException.failed("Could not fill the demo's topic", failure.get());
        }
    }

    /** Lets neither size nor time nor memory end a batch before it is flushed. */
    private static void fillNoBatch(Map<String, Object> client, DemoLoad load) {
        int batchSize = load.batchRecords().orElseThrow() * (load.size() + RECORD_OVERHEAD) + BATCH_OVERHEAD;
        client.put(ProducerConfig.BATCH_SIZE_CONFIG, batchSize);
        client.put(ProducerConfig.BUFFER_MEMORY_CONFIG, Math.max(MIN_MEMORY, 2L * batchSize * Demo.PARTITIONS));
        client.put(ProducerConfig.LINGER_MS_CONFIG, 60_000);
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
