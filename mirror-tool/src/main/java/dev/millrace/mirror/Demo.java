package dev.millrace.mirror;

import dev.millrace.testkit.Comparison;
import dev.millrace.testkit.KafkaCluster;
import dev.millrace.testkit.TopicDigest;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;

/**
 * Shows a mirror at work between two real clusters, and what the producer in it is worth: the same topic is mirrored
 * with each producer, by one thread and by many, and each time the target is compared with the source.
 *
 * <p>Clusters and runs are child processes, which end when this process does, in whatever way.
 */
final class Demo {
    static final String TOPIC = "demo";
    static final int PARTITIONS = 32;
    /** Long enough for all consumers to be in the group's first generation, so that no rebalance is measured. */
    private static final String JOIN_MS = "2000";

    private static final long WARM_UP = 500_000;

    private final DemoCommand options;
    private final PrintStream out;
    private final PrintStream progress;

    Demo(DemoCommand options, PrintStream out, PrintStream progress) {
        this.options = options;
        this.out = out;
        this.progress = progress;
    }

    /** Returns whether every target was the same as the source. Blocks for minutes. */
    boolean run() {
        try (KafkaCluster source = start("source");
                KafkaCluster target = start("target")) {
            fill(source, "Filling the source", options.records());
            // The target broker's code is compiled before it is measured; the source's was just now.
            fill(target, "Warming up the target", Math.min(WARM_UP, options.records()));
            delete(target);
            TopicDigest expected = digest(source, "Reading the source");
            List<DemoTable.Row> rows = new ArrayList<>();
            for (ProducerKind kind : List.of(ProducerKind.STOCK, ProducerKind.MILLRACE)) {
                for (int threads : new TreeSet<>(List.of(1, options.threads()))) {
                    rows.add(mirror(source, target, kind, threads, expected));
                }
            }
            tell(rows);
            return rows.stream().allMatch(DemoTable.Row::exact);
        }
    }

    private KafkaCluster start(String role) {
        try (ProgressBar bar = new ProgressBar(progress, "Starting the " + role + " cluster", 1)) {
            KafkaCluster cluster = KafkaCluster.builder()
                    .setting("group.initial.rebalance.delay.ms", JOIN_MS)
                    .start();
            bar.update(1);
            return cluster;
        }
    }

    private void fill(KafkaCluster cluster, String label, long records) {
        cluster.createTopic(TOPIC, PARTITIONS, 1, Map.of());
        Map<TopicPartition, Long> unused = Clusters.endOffsets(cluster.admin(), TOPIC, PARTITIONS); // Leaders serve.
        try (ProgressBar bar = new ProgressBar(progress, label, records)) {
            DemoRecords.write(cluster.clientConfig(), TOPIC, PARTITIONS, records, options.size(), bar::update);
        }
    }

    private TopicDigest digest(KafkaCluster cluster, String label) {
        try (ProgressBar bar = new ProgressBar(progress, label, options.records())) {
            return TopicDigest.read(cluster.clientConfig(), TOPIC, bar::update);
        }
    }

    private DemoTable.Row mirror(
            KafkaCluster source, KafkaCluster target, ProducerKind kind, int threads, TopicDigest expected) {
        String run = kind.label() + " producer, " + threads + (threads == 1 ? " thread" : " threads");
        Measurement.Figures figures;
        try (ProgressBar bar = new ProgressBar(progress, "Mirroring, " + run, options.records())) {
            List<String> args = List.of(
                    "--source=" + source.bootstrapServers(),
                    "--target=" + target.bootstrapServers(),
                    "--topics=" + TOPIC,
                    "--threads=" + threads,
                    "--producer=" + kind,
                    // Starts at the beginning, as no other run's offsets are its own.
                    "--group=demo-" + kind + "-" + threads);
            figures = DemoProcess.run(args, bar::update);
        }
        Comparison comparison = expected.compare(digest(target, "Comparing, " + run));
        delete(target);
        return new DemoTable.Row(kind, threads, figures, comparison.toString(), comparison.isExact());
    }

    /** Makes room for the next run's topic of the same name. */
    private static void delete(KafkaCluster target) {
        try {
            target.admin().deleteTopics(List.of(TOPIC)).all().get();
        } catch (ExecutionException e) {
            throw MirrorException.failed("Could not delete the demo's topic", e.getCause());
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    private void tell(List<DemoTable.Row> rows) {
        out.printf(
                "%n%,d records of %,d bytes in %d partitions, snappy:%n%n%s%n",
                options.records(), options.size(), PARTITIONS, DemoTable.format(rows));
        out.println("""
                Each run is a process of its own, measured from its first record polled to its last one acknowledged:
                its JVM's start, which touches the heap, is left out, its warm-up is not. CPU is that of the whole
                process, without the brokers but with the JVM's compiler, which takes about half of so short a run. Every
                send() is timed, for either producer. Each target was read back and compared with the source, record by
                record.""");
    }
}
