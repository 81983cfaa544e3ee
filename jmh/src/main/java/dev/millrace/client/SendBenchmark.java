package dev.millrace.client;

import dev.millrace.client.kafka.InstantLink;
import dev.millrace.jmh.InstantClient;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.ApiVersions;
import org.apache.kafka.clients.KafkaClient;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.clients.producer.internals.ProducerInterceptors;
import org.apache.kafka.clients.producer.internals.ProducerMetadata;
import org.apache.kafka.common.internals.ClusterResourceListeners;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Whole producers, from {@code send} to the completion of the future, without the network: an {@link InstantLink} and
 * an {@link InstantClient} acknowledge at once on their I/O threads. One topic of 32 partitions, 100-byte values,
 * no callbacks, idempotent, {@code acks=all}, {@code linger.ms=5}, batches of 64 KiB, 64 MiB of memory. When the
 * memory is full, {@code send} waits, so that a producer is no faster than its I/O thread.
 *
 * <p>Records are made in the setup and sent again and again, because the application, not the producer, allocates them.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 2,
        jvmArgsAppend = {"-Xms1g", "-Xmx1g"})
public class SendBenchmark {
    private static final String TOPIC = "topic";
    private static final int PARTITIONS = 32;
    private static final int VALUE_SIZE = 100;
    private static final int KEYS = 1000;
    private static final Map<String, Object> CONFIG = Map.of(
            ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
            "localhost:9092",
            ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG,
            ByteArraySerializer.class.getName(),
            ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG,
            ByteArraySerializer.class.getName(),
            ProducerConfig.BATCH_SIZE_CONFIG,
            64 << 10,
            ProducerConfig.LINGER_MS_CONFIG,
            5,
            ProducerConfig.BUFFER_MEMORY_CONFIG,
            64L << 20,
            ProducerConfig.ENABLE_METRICS_PUSH_CONFIG,
            false);

    /** How the partition of a record is chosen. */
    public enum Choice {
        /** The record names its partition; all partitions in turn. */
        EXPLICIT,
        /** By the key's hash; 1,000 keys in turn. */
        KEYED,
        /** By the producer, which keeps a partition for a batch. */
        STICKY;

        Stream<ProducerRecord<byte[], byte[]>> records(byte[] value) {
            return switch (this) {
                case EXPLICIT ->
                    IntStream.range(0, PARTITIONS).mapToObj(p -> new ProducerRecord<>(TOPIC, p, null, value));
                case KEYED -> IntStream.range(0, KEYS).mapToObj(k -> new ProducerRecord<>(TOPIC, key(k), value));
                case STICKY -> Stream.of(new ProducerRecord<>(TOPIC, value));
            };
        }

        private static byte[] key(long number) {
            return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
        }
    }

    /** The records of a thread, in turn. Each thread starts at another. */
    @State(Scope.Thread)
    public static class RecordSource {
        private static final AtomicInteger THREADS = new AtomicInteger();

        @Param
        Choice choice;

        private List<ProducerRecord<byte[], byte[]>> records;
        private int last;

        @Setup
        public void make() {
            records = choice.records(new byte[VALUE_SIZE]).toList();
            last = THREADS.getAndIncrement() % records.size();
        }

        ProducerRecord<byte[], byte[]> next() {
            last = last + 1 < records.size() ? last + 1 : 0;
            return records.get(last);
        }
    }

    /** Millrace. */
    @State(Scope.Benchmark)
    public static class Millrace {
        MillraceProducer<byte[], byte[]> producer;

        @Setup
        public void start() throws Exception {
            producer = new MillraceProducer<>(
                    CONFIG,
                    null,
                    null,
                    (kafka, images, ioThread) -> new InstantLink(kafka, List.of(TOPIC), PARTITIONS));
            checkOne(producer);
        }

        @TearDown
        public void stop() {
            checkAllAndClose(producer);
        }
    }

    /** kafka-clients 4.3.1. */
    @State(Scope.Benchmark)
    public static class Kafka431 {
        KafkaProducer<byte[], byte[]> producer;

        @Setup
        public void start() throws Throwable {
            InstantClient client = new InstantClient(List.of(TOPIC), PARTITIONS);
            ProducerMetadata metadata = new ProducerMetadata(
                    100, 1000, 300_000, 300_000, new LogContext(), new ClusterResourceListeners(), Time.SYSTEM);
            metadata.add(TOPIC, Time.SYSTEM.milliseconds());
            metadata.updateWithCurrentRequestVersion(client.metadata(), false, Time.SYSTEM.milliseconds());
            producer = producer(metadata, client);
            checkOne(producer);
        }

        /** Uses the constructor that the stock client has for its own tests. */
        @SuppressWarnings("unchecked")
        private static KafkaProducer<byte[], byte[]> producer(ProducerMetadata metadata, KafkaClient client)
                throws Throwable {
            MethodType parameters = MethodType.methodType(
                    void.class,
                    ProducerConfig.class,
                    Serializer.class,
                    Serializer.class,
                    ProducerMetadata.class,
                    KafkaClient.class,
                    ProducerInterceptors.class,
                    ApiVersions.class,
                    Time.class);
            return (KafkaProducer<byte[], byte[]>)
                    MethodHandles.privateLookupIn(KafkaProducer.class, MethodHandles.lookup())
                            .findConstructor(KafkaProducer.class, parameters)
                            .invoke(
                                    new ProducerConfig(CONFIG),
                                    new ByteArraySerializer(),
                                    new ByteArraySerializer(),
                                    metadata,
                                    client,
                                    null,
                                    new ApiVersions(),
                                    Time.SYSTEM);
        }

        @TearDown
        public void stop() {
            checkAllAndClose(producer);
        }
    }

    private static void checkOne(Producer<byte[], byte[]> producer) throws Exception {
        RecordMetadata sent = producer.send(new ProducerRecord<>(TOPIC, PARTITIONS - 1, null, new byte[VALUE_SIZE]))
                .get(1, TimeUnit.MINUTES);
        if (!sent.hasOffset() || sent.partition() != PARTITIONS - 1) {
            throw new IllegalStateException("Wrong acknowledgement: " + sent);
        }
    }

    private static void checkAllAndClose(Producer<byte[], byte[]> producer) {
        producer.flush();
        double failed = total(producer, "record-error-total");
        double sent = total(producer, "record-send-total");
        producer.close();
        if (failed > 0 || sent < 2) {
            throw new IllegalStateException(failed + " records failed, " + sent + " were sent");
        }
    }

    private static double total(Producer<byte[], byte[]> producer, String metric) {
        return producer.metrics().entrySet().stream()
                .filter(each -> each.getKey().group().equals("producer-metrics")
                        && each.getKey().name().equals(metric))
                .mapToDouble(each -> (double) each.getValue().metricValue())
                .findFirst()
                .orElseThrow();
    }

    /** Millrace. */
    @Benchmark
    public Future<RecordMetadata> millrace(Millrace to, RecordSource from) {
        return to.producer.send(from.next());
    }

    /** The stock producer. */
    @Benchmark
    public Future<RecordMetadata> kafka431(Kafka431 to, RecordSource from) {
        return to.producer.send(from.next());
    }
}
