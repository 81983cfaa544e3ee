package dev.millrace.weather;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Writes the records of one topic: a third at once, the others while the weather lasts. Each has its
 * number in the key or a header, so no two are equal. It does not remember what was written: the judge reads both sides.
 *
 * <p><b>Threads:</b> one writes, any other calls the rest.
 */
final class SourceTopic implements AutoCloseable {
    private static final String NUMBER = "number";
    private static final Duration STEP = Duration.ofMillis(20);
    private static final Duration CLOSE = Duration.ofSeconds(1);
    private static final int MAX_TRANSACTION = 200;
    private static final int MORE = 50;
    /** What a lost producer leaves open must end before the judge. */
    private static final Duration OPEN = Duration.ofSeconds(10);

    private static final Duration MAX_OPEN = OPEN.plusSeconds(2);
    private static final long TWO_YEARS_MS = Duration.ofDays(730).toMillis();

    private final TopicKind kind;
    private final Map<String, Object> config;
    private final Random random;
    private final long firstTimestamp;
    private volatile int partitions;
    private Producer<byte[], byte[]> producer;
    private volatile int written;

    SourceTopic(Side side, TopicKind kind, Random random) {
        this.kind = kind;
        this.random = random;
        partitions = kind.partitions();
        firstTimestamp =
                System.currentTimeMillis() - Duration.ofDays(kind.ageDays()).toMillis();
        config = new HashMap<>(side.cluster().clientConfig());
        config.put("compression.type", kind.codec().name);
        config.put("batch.size", kind.batchBytes());
        config.put("linger.ms", 20);
        config.put("max.request.size", kind.maxBatchBytes());
        config.put("max.block.ms", 10_000);
        if (kind.isTransactional()) {
            config.put("transactional.id", kind.name());
            config.put("transaction.timeout.ms", (int) OPEN.toMillis());
        }
    }

    TopicKind kind() {
        return kind;
    }

    /** How many records it has been given so far. */
    int written() {
        return written;
    }

    int partitions() {
        return partitions;
    }

    void setPartitions(int count) {
        partitions = count;
    }

    /** Which record of its topic this is, if that is in a header. */
    static int number(ConsumerRecord<byte[], byte[]> record) {
        return Integer.parseInt(new String(record.headers().lastHeader(NUMBER).value(), StandardCharsets.UTF_8));
    }

    /** Does this while nothing is written, and all that was is there. */
    synchronized void whileSilent(Runnable action) {
        flush();
        close();
        action.run();
    }

    /** Writes what is there before the mirror starts. */
    void writeBacklog() {
        while (written < kind.records() / 3) {
            writeSome(kind.records() / 3 - written);
        }
    }

    /** The timestamp that a producer gives to the record in the middle of what was written, unless they are equal or wild. */
    long middleTimestamp() {
        return firstTimestamp + written / 2;
    }

    /** Writes all others, at an even pace until so much time has passed. */
    void writeOthers(Duration time) {
        long start = System.nanoTime();
        int first = written;
        while (written < kind.records()) {
            double passed = Math.min(1, (System.nanoTime() - start) / (double) time.toNanos());
            int due = first + (int) ((kind.records() - first) * passed) - written;
            if (due > 0) {
                writeSome(due);
            } else {
                LockSupport.parkNanos(STEP.toNanos());
            }
        }
        whileSilent(() -> {});
    }

    /** Writes some records now, though all others may be written. */
    void writeMore() {
        writeSome(Math.max(MORE, kind.records() / MORE));
    }

    /** What a producer has failed to write is not written again: the mirror has to copy what is there. */
    private synchronized void writeSome(int most) {
        try {
            if (producer == null) {
                producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
                if (kind.isTransactional()) {
                    producer.initTransactions();
                }
            }
            if (kind.isTransactional()) {
                writeTransaction(1 + random.nextInt(Math.min(most, MAX_TRANSACTION)));
            } else {
                write(most);
            }
        } catch (KafkaException | IllegalStateException e) {
            close();
        }
    }

    private void writeTransaction(int records) {
        producer.beginTransaction();
        write(records);
        switch (random.nextInt(32)) {
            case 0 -> leaveOpen();
            case 1, 2, 3, 4, 5, 6, 7, 8 -> {
                producer.flush(); // else nothing would be there to abort
                producer.abortTransaction();
            }
            default -> producer.commitTransaction();
        }
    }

    /** Readers of committed records wait until the next producer, or the brokers when time is up, abort it. */
    private void leaveOpen() {
        producer.flush();
        producer.close(Duration.ZERO);
        producer = null;
        LockSupport.parkNanos((long) (random.nextDouble() * MAX_OPEN.toNanos()));
    }

    private void write(int records) {
        for (int i = 0; i < records; i++) {
            ProducerRecord<byte[], byte[]> record = next();
            var unused = producer.send(record);
        }
    }

    private ProducerRecord<byte[], byte[]> next() {
        int number = written;
        written = number + 1; // only whoever holds the lock writes it
        byte[] key = kind.hasKeys()
                ? ByteBuffer.allocate(Long.BYTES).putLong(number % kind.keys()).array()
                : null;
        List<Header> headers = !kind.hasKeys() || kind.isCompacted() || number % 7 == 0
                ? List.of(new RecordHeader(NUMBER, Integer.toString(number).getBytes(StandardCharsets.UTF_8)))
                : List.of();
        return new ProducerRecord<>(
                kind.name(), random.nextInt(partitions), timestamp(number), key, value(number), headers);
    }

    private long timestamp(int number) {
        return switch (kind.timestamps()) {
            case RISING -> firstTimestamp + number;
            case EQUAL -> firstTimestamp;
            case WILD -> firstTimestamp - (long) (random.nextDouble() * TWO_YEARS_MS);
        };
    }

    /** Half of it is random, so that it can be compressed, but not to nothing; one in fifty is null. */
    private byte[] value(int number) {
        if (kind.isLarge(number)) {
            return bytes(kind.largeBytes());
        }
        return number % 50 == 49 ? null : bytes(random.nextInt(kind.valueBytes() + 1));
    }

    private byte[] bytes(int length) {
        byte[] half = new byte[(length + 1) / 2];
        random.nextBytes(half);
        byte[] all = new byte[length];
        System.arraycopy(half, 0, all, 0, half.length);
        return all;
    }

    private void flush() {
        if (producer != null) {
            producer.flush();
        }
    }

    /** Does not wait for a source that is away. */
    @Override
    public synchronized void close() {
        if (producer != null) {
            producer.close(CLOSE);
            producer = null;
        }
    }
}
