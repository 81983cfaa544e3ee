package dev.millrace.jmh;

import dev.millrace.client.metadata.ClusterImages;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.internals.ProducerMetadata;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.internals.ClusterResourceListeners;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What every {@code send} needs from metadata if the topic is known: it takes the image of the cluster, and from it the
 * number of the topic's partitions. The stock client also marks the topic as used; ours leaves that to the I/O thread,
 * once per batch. All threads share the topics. Neither side reads a clock: {@code ProducerMetadata.add} gets a
 * constant time.
 *
 * <p>Versions that cannot be on the class path are called through {@link PublishedKafkaClasses}. To show that this
 * costs nothing, 4.3.1 is here twice: {@code kafka431} is called directly, {@code kafka431ByHandle} like the other
 * versions.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 2,
        jvmArgsAppend = "-Dslf4j.internal.verbosity=ERROR") // the other versions have no logger, which would be printed
public class MetadataBenchmark {
    private static final int PARTITIONS = 8;

    /** An arbitrary time. */
    private static final long NOW_MS = 1_000_000;

    private static void checkPartitions(int seen) {
        if (seen != PARTITIONS) {
            throw new IllegalStateException("A topic has " + seen + " partitions instead of " + PARTITIONS);
        }
    }

    /** Millrace. */
    @State(Scope.Benchmark)
    public static class Millrace {
        private ClusterImages images;

        @Setup
        public void fill(Topics topics) {
            images = MillraceMetadata.images(topics.names, PARTITIONS);
            topics.names.forEach(topic -> checkPartitions(countPartitions(topic)));
        }

        int countPartitions(String topic) {
            return images.current().topic(topic).partitions();
        }
    }

    /** kafka-clients 0.9.0.1. */
    @State(Scope.Benchmark)
    public static class Kafka0901 {
        private static final Kafka0901MetadataHandles HANDLES = Kafka0901MetadataHandles.of("kafka-0.9.0.1");

        private Object metadata;

        @Setup
        public void fill(Topics topics) throws Throwable {
            metadata = HANDLES.newMetadata(topics.names, PARTITIONS);
            for (String topic : topics.names) {
                checkPartitions(countPartitions(topic));
            }
        }

        int countPartitions(String topic) throws Throwable {
            return HANDLES.countPartitions(metadata, topic);
        }
    }

    /** kafka-clients 4.3.1, called directly. */
    @State(Scope.Benchmark)
    public static class Kafka431 {
        private final ProducerMetadata metadata = new ProducerMetadata(
                100, 1000, 300_000, 300_000, new LogContext(), new ClusterResourceListeners(), Time.SYSTEM);

        @Setup
        public void fill(Topics topics) {
            topics.names.forEach(topic -> metadata.add(topic, NOW_MS));
            metadata.updateWithCurrentRequestVersion(KafkaMetadata.response(topics.names, PARTITIONS), false, NOW_MS);
            topics.names.forEach(topic -> checkPartitions(countPartitions(topic)));
        }

        int countPartitions(String topic) {
            Cluster cluster = metadata.fetch();
            metadata.add(topic, NOW_MS);
            return cluster.partitionCountForTopic(topic);
        }
    }

    /** kafka-clients 4.3.1, called through handles. */
    @State(Scope.Benchmark)
    public static class Kafka431ByHandle {
        private static final ProducerMetadataHandles HANDLES = ProducerMetadataHandles.of("kafka-4.3.1");

        private Object metadata;

        @Setup
        public void fill(Topics topics) throws Throwable {
            metadata = HANDLES.newMetadata(topics.names, PARTITIONS, NOW_MS);
            for (String topic : topics.names) {
                checkPartitions(countPartitions(topic));
            }
        }

        int countPartitions(String topic) throws Throwable {
            return HANDLES.countPartitions(metadata, topic, NOW_MS);
        }
    }

    /** kafka-clients 4.4.0. */
    @State(Scope.Benchmark)
    public static class Kafka440 {
        private static final ProducerMetadataHandles HANDLES = ProducerMetadataHandles.of("kafka-4.4.0");

        private Object metadata;

        @Setup
        public void fill(Topics topics) throws Throwable {
            metadata = HANDLES.newMetadata(topics.names, PARTITIONS, NOW_MS);
            for (String topic : topics.names) {
                checkPartitions(countPartitions(topic));
            }
        }

        int countPartitions(String topic) throws Throwable {
            return HANDLES.countPartitions(metadata, topic, NOW_MS);
        }
    }

    /** As in our {@code send}: one volatile read and one look-up. */
    @Benchmark
    public int millrace(Millrace metadata, Topics.Cursor cursor) {
        return metadata.countPartitions(cursor.next());
    }

    /** {@code containsTopic} and {@code fetch}, both synchronized. */
    @Benchmark
    public int kafka0901(Kafka0901 metadata, Topics.Cursor cursor) throws Throwable {
        return metadata.countPartitions(cursor.next());
    }

    /** {@code fetch}, and {@code add}, which is synchronized. */
    @Benchmark
    public int kafka431(Kafka431 metadata, Topics.Cursor cursor) {
        return metadata.countPartitions(cursor.next());
    }

    /** The same through handles. */
    @Benchmark
    public int kafka431ByHandle(Kafka431ByHandle metadata, Topics.Cursor cursor) throws Throwable {
        return metadata.countPartitions(cursor.next());
    }

    /** {@code fetch}, and {@code add}, which locks a bin of a concurrent map. */
    @Benchmark
    public int kafka440(Kafka440 metadata, Topics.Cursor cursor) throws Throwable {
        return metadata.countPartitions(cursor.next());
    }
}
