package dev.millrace.client;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.client.accumulator.ReadyQueue;
import dev.millrace.client.accumulator.ReadyQueues;
import dev.millrace.client.memory.BufferPool;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.StalledBrokers;
import dev.millrace.client.metadata.TopicImage;
import dev.millrace.client.partitioner.PartitionChooser;
import dev.millrace.client.partitioner.PartitionLoad;
import dev.millrace.jmh.KafkaMetadata;
import dev.millrace.jmh.MillraceMetadata;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner.StickyPartitionInfo;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.LogContext;
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
import org.openjdk.jmh.annotations.Warmup;

/**
 * Chooses one of 32 partitions for records with 100-byte values, with and without a key. All threads share the
 * partitioner. The stock {@code BuiltInPartitioner} gets the calls that its accumulator makes, but without the lock of
 * a partition's queue that the accumulator holds during some of them, which is an advantage for it.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class PartitionerBenchmark {
    private static final String TOPIC = "topic";
    private static final int PARTITIONS = 32;
    private static final int BATCH_SIZE = 64 << 10;
    private static final int ENCODED_SIZE = 112;
    private static final int NO_HEADERS_SIZE = 1;
    private static final int DRAWS = 20_000;

    /** The record that a thread sends. */
    @State(Scope.Thread)
    public static class ThreadRecord {
        @Param({"true", "false"})
        boolean keyed;

        byte[] key;
        final byte[] value = new byte[100];
        ProducerRecord<byte[], byte[]> record;

        @Setup
        public void make() {
            if (keyed) {
                key = new byte[8];
                ThreadLocalRandom.current().nextBytes(key);
            }
            record = new ProducerRecord<>(TOPIC, key, value);
        }
    }

    /** Millrace. */
    @State(Scope.Benchmark)
    public static class Millrace {
        private final ClusterImage image =
                MillraceMetadata.images(List.of(TOPIC), PARTITIONS).current();
        private final TopicImage topic = image.topic(TOPIC);
        private final PartitionChooser chooser = new PartitionChooser(
                new ProducerConfig(Map.of(
                        ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                        "localhost:9092",
                        ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG,
                        ByteArraySerializer.class.getName(),
                        ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG,
                        ByteArraySerializer.class.getName(),
                        ProducerConfig.BATCH_SIZE_CONFIG,
                        BATCH_SIZE)),
                null,
                new PartitionLoad(emptyAccumulator(), new StalledBrokers[] {new StalledBrokers(0)}, true, ""));

        private static Accumulator emptyAccumulator() {
            BufferPool pool = new BufferPool(BATCH_SIZE, BATCH_SIZE, () -> {});
            return new Accumulator(
                    pool,
                    ReadyQueues.of(new ReadyQueue()),
                    BatchCodec.NONE,
                    () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()),
                    0);
        }

        /**
         * Checks that keys go where the stock client puts them, and that records without a key reach every partition.
         */
        @Setup
        public void check() {
            ThreadRecord sent = new ThreadRecord();
            sent.keyed = true;
            sent.make();
            check(choose(sent) == BuiltInPartitioner.partitionForKey(sent.key, PARTITIONS));
            sent.keyed = false;
            sent.key = null;
            sent.make();
            boolean[] seen = new boolean[PARTITIONS];
            for (int i = 0; i < DRAWS * PARTITIONS; i++) {
                seen[choose(sent)] = true;
            }
            for (boolean each : seen) {
                check(each);
            }
        }

        private static void check(boolean asExpected) {
            if (!asExpected) {
                throw new IllegalStateException("Wrong partitions");
            }
        }

        int choose(ThreadRecord sent) {
            return chooser.choose(sent.record, sent.key, sent.value, NO_HEADERS_SIZE, image, topic);
        }
    }

    /** kafka-clients 4.3.1. */
    @State(Scope.Benchmark)
    public static class Kafka431 {
        private static final MethodHandle PEEK;
        private static final MethodHandle UPDATE;

        static {
            try {
                MethodHandles.Lookup lookup =
                        MethodHandles.privateLookupIn(BuiltInPartitioner.class, MethodHandles.lookup());
                PEEK = lookup.findVirtual(
                        BuiltInPartitioner.class,
                        "peekCurrentPartitionInfo",
                        MethodType.methodType(StickyPartitionInfo.class, Cluster.class));
                UPDATE = lookup.findVirtual(
                        BuiltInPartitioner.class,
                        "updatePartitionInfo",
                        MethodType.methodType(void.class, StickyPartitionInfo.class, int.class, Cluster.class));
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private final Cluster cluster = KafkaMetadata.snapshot(KafkaMetadata.response(List.of(TOPIC), PARTITIONS))
                .cluster();
        private final BuiltInPartitioner partitioner = new BuiltInPartitioner(new LogContext(), TOPIC, BATCH_SIZE);

        int choose(ThreadRecord sent) throws Throwable {
            if (sent.key != null) {
                return BuiltInPartitioner.partitionForKey(
                        sent.key, cluster.partitionsForTopic(TOPIC).size());
            }
            StickyPartitionInfo info = (StickyPartitionInfo) PEEK.invokeExact(partitioner, cluster);
            UPDATE.invokeExact(partitioner, info, ENCODED_SIZE, cluster);
            return info.partition();
        }
    }

    /** {@code PartitionChooser}. */
    @Benchmark
    public int millrace(Millrace state, ThreadRecord sent) {
        return state.choose(sent);
    }

    /** {@code BuiltInPartitioner}. */
    @Benchmark
    public int kafka431(Kafka431 state, ThreadRecord sent) throws Throwable {
        return state.choose(sent);
    }
}
