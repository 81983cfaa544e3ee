package dev.millrace.client.metadata;

import java.util.List;
import java.util.concurrent.TimeUnit;
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
 * What KAFKA-14735 measured of a cluster's metadata, with clusters of its sizes: the next version after a change, all
 * of it at once, and look-ups. Our image, the snapshots of published clients, and a {@code HashMap} that is copied.
 * Each gets what an answer says in its own form, so that nobody's parsing counts.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 2,
        jvmArgsAppend = {"-Xmx6g", "-Dslf4j.internal.verbosity=ERROR"})
public class ImageBenchmark {
    /** Names are looked up in another order than that in which they lie in memory. */
    private static final int STRIDE = 7_919;

    @Param({"12500", "25000", "50000", "100000"})
    int topics;

    @Param({"millrace", "kafka-4.3.1", "kafka-4.4.0", "copied-map"})
    String side;

    /** Of each benchmark only its own input is made. */
    @State(Scope.Benchmark)
    public static class OneTopic extends Change {
        @Setup
        public void read(ImageBenchmark benchmark) {
            answer = benchmark.metadata.read(benchmark.cluster.oneTopicChanged());
        }
    }

    /** The answer after one broker of many is lost. */
    @State(Scope.Benchmark)
    public static class BrokerLost extends Change {
        @Setup
        public void read(ImageBenchmark benchmark) {
            answer = benchmark.metadata.read(benchmark.cluster.brokerLost());
        }
    }

    /** The answer after all brokers of one zone are lost. */
    @State(Scope.Benchmark)
    public static class ZoneLost extends Change {
        @Setup
        public void read(ImageBenchmark benchmark) {
            answer = benchmark.metadata.read(benchmark.cluster.zoneLost());
        }
    }

    /** What an answer says that changes a part of the topics. */
    abstract static class Change {
        Object answer;
    }

    private SampleCluster cluster;
    private MetadataSide metadata;
    private Object allTopics;
    private Object current;
    private String[] names;
    private int last;

    @Setup
    public void load() throws Throwable {
        cluster = new SampleCluster(topics);
        metadata = MetadataSide.of(side, cluster);
        allTopics = metadata.read(cluster.topics());
        current = metadata.load(allTopics);
        List<SampleCluster.Topic> all = cluster.topics();
        names = new String[topics];
        for (int i = 0; i < topics; i++) {
            names[i] = all.get((int) ((long) i * STRIDE % topics)).name();
            if (metadata.countPartitions(current, names[i]) != SampleCluster.PARTITIONS) {
                throw new IllegalStateException(names[i] + " has not " + SampleCluster.PARTITIONS + " partitions");
            }
        }
    }

    /** One topic changed. */
    @Benchmark
    public Object oneTopic(OneTopic change) {
        return metadata.apply(current, change.answer);
    }

    /** One broker lost, which had replicas of many topics. */
    @Benchmark
    public Object brokerLost(BrokerLost change) {
        return metadata.apply(current, change.answer);
    }

    /** A third of the brokers lost. */
    @Benchmark
    public Object zoneLost(ZoneLost change) {
        return metadata.apply(current, change.answer);
    }

    /** All topics at once. */
    @Benchmark
    public Object fullLoad() {
        return metadata.load(allTopics);
    }

    /** One look-up; of no use for published clients, whose methods are not called by constant handles here. */
    @Benchmark
    public int lookUp() throws Throwable {
        last = last + 1 < names.length ? last + 1 : 0;
        return metadata.countPartitions(current, names[last]);
    }
}
