package dev.millrace.mirror.demo;

import dev.millrace.mirror.Clusters;
import dev.millrace.mirror.MirrorException;
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
 * Mirrors a topic between two real clusters, by each contender with each number of threads, and compares the target
 * with the source each time.
 *
 * <p>Clusters and runs are child processes, which end when this process ends, even if it is killed.
 */
final class Demo {
    static final String TOPIC = "demo";
    static final int PARTITIONS = 32;
    /** Time in which all consumers join the first generation of the group, so that no rebalance is measured. */
    private static final String JOIN_MS = "2000";

    private static final long WARM_UP = 500_000;

    private final DemoPlan plan;
    private final PrintStream progress;

    Demo(DemoPlan plan, PrintStream progress) {
        this.plan = plan;
        this.progress = progress;
    }

    /** Runs the plan, which takes minutes. Returns a row for each contender and number of threads, in their order. */
    List<DemoRow> run() {
        progress.println(plan.estimate());
        try (MirrorMaker1 mirrorMaker = plan.contenders().stream().anyMatch(Contender::isMirrorMaker) ? fetch() : null;
                KafkaCluster source = start("source");
                KafkaCluster target = start("target")) {
            fill(source, "Filling the source", plan.records());
            // So that the JVM of the target broker has compiled its code before the first run, too.
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
        Map<TopicPartition, Long> unused =
                Clusters.endOffsets(cluster.admin(), TOPIC, PARTITIONS); // Waits for leaders.
    }

    private TopicDigest digest(KafkaCluster cluster, String label) {
        try (ProgressBar bar = new ProgressBar(progress, label, plan.records())) {
            return TopicDigest.read(cluster.clientConfig(), TOPIC, bar::update);
        }
    }

    /**
     * Runs one contender.
     *
     * @param group a new one for each run, so that the run starts at the beginning of the topic
     */
    private Measurement.Figures mirror(
            KafkaCluster source,
            KafkaCluster target,
            DemoPlan.Run run,
            Optional<MirrorMaker1> mirrorMaker,
            String group,
            String step) {
        if (run.contender().isMirrorMaker()) {
            create(target); // MirrorMaker 1 would not create as many partitions.
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
            List<String> args = new ArrayList<>(List.of(
                    "--source=" + source.bootstrapServers(),
                    "--target=" + target.bootstrapServers(),
                    "--topics=" + TOPIC,
                    "--threads=" + run.threads(),
                    "--group=" + group));
            args.addAll(run.contender().options());
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

    /** Deletes the topic, because the next run writes one of the same name. */
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
