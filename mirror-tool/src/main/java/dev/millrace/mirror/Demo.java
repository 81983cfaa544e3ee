package dev.millrace.mirror;

import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.oracle.Comparison;
import dev.millrace.testkit.oracle.TopicDigest;
import dev.millrace.testkit.oracle.UnorderedComparison;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;

/**
 * Shows a mirror at work between two real clusters, and what the producer in it is worth: the same topic is mirrored
 * by each contender with each number of threads, and each time the target is compared with the source.
 *
 * <p>Clusters and runs are child processes, which end when this process does, in whatever way.
 */
final class Demo {
    static final String TOPIC = "demo";
    static final int PARTITIONS = 32;
    /** Long enough for all consumers to be in the group's first generation, so that no rebalance is measured. */
    private static final String JOIN_MS = "2000";

    private static final long WARM_UP = 500_000;

    private final DemoPlan plan;
    private final PrintStream progress;

    Demo(DemoPlan plan, PrintStream progress) {
        this.plan = plan;
        this.progress = progress;
    }

    /** Returns what came out, a row for each contender and number of threads, in their order. Blocks for minutes. */
    List<DemoRow> run() {
        progress.println(plan.expectation());
        try (MirrorMaker1 mirrorMaker = plan.contenders().stream().anyMatch(Contender::isMirrorMaker) ? fetch() : null;
                KafkaCluster source = start("source");
                KafkaCluster target = start("target")) {
            fill(source, "Filling the source", plan.records());
            // The target broker's code is compiled before it is measured; the source's was just now.
            fill(target, "Warming up the target", Math.min(WARM_UP, plan.records()));
            delete(target);
            TopicDigest expected = digest(source, "Reading the source");
            List<DemoRow> rows = new ArrayList<>();
            List<DemoPlan.Run> runs = plan.runs();
            for (DemoPlan.Run run : runs) {
                String label = run.contender().describe(run.threads());
                String step = plan.rounds() == 1 ? label : label + " " + (rows.size() + 1) + "/" + runs.size();
                Measurement.Figures figures =
                        mirror(source, target, run, Optional.ofNullable(mirrorMaker), "demo-" + rows.size(), step);
                rows.add(row(run, figures, expected, digest(target, "Comparing, " + step)));
                delete(target);
            }
            return DemoRow.medians(plan, rows);
        }
    }

    private MirrorMaker1 fetch() {
        try (ProgressBar bar = new ProgressBar(progress, "Getting MirrorMaker 1 from Maven", 1)) {
            MirrorMaker1 fetched = new MirrorMaker1();
            bar.update(1);
            return fetched;
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
        create(cluster);
        try (ProgressBar bar = new ProgressBar(progress, label, records)) {
            DemoRecords.write(cluster.clientConfig(), TOPIC, PARTITIONS, records, plan.size(), bar::update);
        }
    }

    private static void create(KafkaCluster cluster) {
        cluster.createTopic(TOPIC, PARTITIONS, 1, Map.of());
        Map<TopicPartition, Long> unused = Clusters.endOffsets(cluster.admin(), TOPIC, PARTITIONS); // Leaders serve.
    }

    private TopicDigest digest(KafkaCluster cluster, String label) {
        try (ProgressBar bar = new ProgressBar(progress, label, plan.records())) {
            return TopicDigest.read(cluster.clientConfig(), TOPIC, bar::update);
        }
    }

    /**
     * Runs one contender.
     *
     * @param group of consumers, new: it starts at the beginning, as no other run's offsets are its own
     */
    private Measurement.Figures mirror(
            KafkaCluster source,
            KafkaCluster target,
            DemoPlan.Run run,
            Optional<MirrorMaker1> mirrorMaker,
            String group,
            String step) {
        if (run.contender().isMirrorMaker()) {
            create(target); // With the partitions of the source, as it would not do itself.
        }
        try (ProgressBar bar = new ProgressBar(progress, "Mirroring, " + step, plan.records())) {
            if (run.contender().isMirrorMaker()) {
                return mirrorMaker
                        .orElseThrow()
                        .run(
                                run.contender() == Contender.MIRRORMAKER1_TUNED,
                                source.bootstrapServers(),
                                target.bootstrapServers(),
                                group,
                                run.threads(),
                                plan.records(),
                                bar::update);
            }
            List<String> args = List.of(
                    "--source=" + source.bootstrapServers(),
                    "--target=" + target.bootstrapServers(),
                    "--topics=" + TOPIC,
                    "--threads=" + run.threads(),
                    "--producer=" + ProducerKind.valueOf(run.contender().name()),
                    "--group=" + group);
            return DemoProcess.run(
                    System.getProperty("java.class.path"), DemoProcess.ownOptions(), DemoRun.class, args, bar::update);
        }
    }

    private static DemoRow row(
            DemoPlan.Run run, Measurement.Figures figures, TopicDigest expected, TopicDigest actual) {
        if (run.contender().isMirrorMaker()) {
            UnorderedComparison comparison = UnorderedComparison.compare(expected, actual);
            return new DemoRow(
                    run.contender(),
                    run.threads(),
                    figures,
                    comparison.isExact() ? "every record once, partitions differ" : "WRONG: " + comparison,
                    comparison.isExact());
        }
        Comparison comparison = expected.compare(actual);
        return new DemoRow(
                run.contender(),
                run.threads(),
                figures,
                comparison.isExact() ? "exact" : "WRONG: " + comparison,
                comparison.isExact());
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
}
