package dev.millrace.jmh;

import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.TopicImage;
import dev.millrace.client.metadata.TopicRegistry;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.internals.ProducerMetadata;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.internals.ClusterResourceListeners;
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
import org.openjdk.jmh.annotations.Warmup;

/**
 * What every {@code send} asks of metadata when the topic is known: look it up and mark it as used. All threads share the
 * topics, as the threads of a mirror do. No side reads a clock: {@code ProducerMetadata.add} is handed one reading.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class MetadataBenchmark {
    private static final int PARTITIONS = 8;

    /** The topics, the same for all threads. */
    @State(Scope.Benchmark)
    public static class Topics {
        @Param({"1", "1000"})
        int topics;

        List<String> names;

        @Setup
        public void name() {
            names = IntStream.range(0, topics).mapToObj(i -> "topic-" + i).toList();
        }
    }

    /** Goes through the topics in turn. */
    @State(Scope.Thread)
    public static class Walk {
        private String[] names;
        private int last;

        @Setup
        public void start(Topics topics) {
            names = topics.names.toArray(String[]::new);
        }

        String next() {
            last = last + 1 < names.length ? last + 1 : 0;
            return names[last];
        }
    }

    /** Ours. */
    @State(Scope.Benchmark)
    public static class Millrace {
        final TopicRegistry registry = new TopicRegistry();
        ClusterImages images;

        @Setup
        public void fill(Topics topics) {
            images = new ClusterImages(ClusterImage.bootstrap(List.of()));
            images.apply(new ClusterDelta(
                    "cluster",
                    List.of(new Node(1, "localhost", 9092)),
                    topics.names.stream().map(Millrace::topic).toList(),
                    Map.of(),
                    true));
            topics.names.forEach(registry::add);
        }

        private static TopicImage topic(String name) {
            int[] leaders = new int[PARTITIONS];
            Arrays.fill(leaders, 1);
            int[][] replicas = new int[PARTITIONS][];
            Arrays.fill(replicas, new int[] {1});
            int[][] offline = new int[PARTITIONS][0];
            return new TopicImage(
                    name,
                    Uuid.randomUuid(),
                    leaders,
                    new int[PARTITIONS],
                    new TopicImage.Replicas(replicas, replicas, offline));
        }
    }

    /** The stock client's. */
    @State(Scope.Benchmark)
    public static class KafkaClients {
        final long nowMs = Time.SYSTEM.milliseconds();
        final ProducerMetadata metadata = new ProducerMetadata(
                100, 1000, 300_000, 300_000, new LogContext(), new ClusterResourceListeners(), Time.SYSTEM);

        @Setup
        public void fill(Topics topics) {
            topics.names.forEach(topic -> metadata.add(topic, nowMs));
            metadata.updateWithCurrentRequestVersion(KafkaMetadata.response(topics.names, PARTITIONS), false, nowMs);
            if (metadata.fetch().topics().size() != topics.topics) {
                throw new IllegalStateException("The stock client did not take the topics");
            }
        }
    }

    /** As our {@code send} does it: a volatile read, two look-ups, and a mark that is already set. */
    @Benchmark
    public int millrace(Millrace metadata, Walk walk) {
        String topic = walk.next();
        TopicImage image = metadata.images.current().topic(topic);
        metadata.registry.add(topic);
        return image.partitions();
    }

    /** As {@code KafkaProducer.waitOnMetadata} does it: {@code add} is synchronized. */
    @Benchmark
    public int kafkaClients(KafkaClients state, Walk walk) {
        String topic = walk.next();
        Cluster cluster = state.metadata.fetch();
        state.metadata.add(topic, state.nowMs);
        return cluster.partitionCountForTopic(topic);
    }
}
