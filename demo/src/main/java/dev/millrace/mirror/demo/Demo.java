package dev.millrace.mirror.demo;

import dev.millrace.mirror.text.MirrorException;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.oracle.Comparison;
import dev.millrace.testkit.oracle.TopicDigest;
import dev.millrace.testkit.oracle.UnorderedComparison;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
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
    private static final String IDLE_TOPIC = "demo-idle";
    /** Time in which all consumers join the first generation of the group, so that no rebalance is measured. */
    private static final String JOIN_MS = "2000";

    private final DemoPlan plan;
    private final PrintStream progress;
    private final Consumer<DemoRow> onRun;
    private final Map<ContenderName, MirrorMaker> mirrorMakers = new EnumMap<>(ContenderName.class);

    /**
     * @param onRun called with the result of each run
     */
    Demo(DemoPlan plan, PrintStream progress, Consumer<DemoRow> onRun) {
        this.plan = plan;
        this.progress = progress;
        this.onRun = onRun;
    }

    /** Runs the plan, which takes minutes. Returns a row for each run, in their order. */
    List<DemoRow> run() {
        progress.println(plan.estimate());
        try {
            plan.contenders().forEach(this::fetch);
            try (KafkaCluster source = start("source");
                    KafkaCluster target = start("target")) {
                return run(source, target);
            }
        } finally {
            mirrorMakers.values().forEach(MirrorMaker::close);
        }
    }

    private List<DemoRow> run(KafkaCluster source, KafkaCluster target) {
        DemoLoad load = plan.load();
        fill(source, "Filling the source", load);
        // So that the JVM of the target broker has compiled its code before the first run, too.
        fill(target, "Warming up the target", load.warmUp());
        delete(target);
        createIdle(source, target, load.idlePartitions());
        TopicDigest expected = digest(source, "Reading the source");
        List<DemoRow> rows = new ArrayList<>();
        List<DemoPlan.Run> runs = plan.runs();
        for (DemoPlan.Run run : runs) {
            String label = run.contender().describe(run.threads());
            String step = plan.rounds() == 1 ? label : label + " " + (rows.size() + 1) + "/" + runs.size();
            MirrorMaker.Job job = new MirrorMaker.Job(
                    source.bootstrapServers(), target.bootstrapServers(), "demo-" + rows.size(), run.threads(), load);
            Measurement.Figures figures = mirror(source, target, run.contender(), job, step);
            DemoRow row = row(run, figures, expected, digest(target, "Comparing, " + step));
            onRun.accept(row);
            rows.add(row);
            delete(target);
        }
        return rows;
    }

    private void fetch(Contender contender) {
        if (contender.isMirrorMaker() && !mirrorMakers.containsKey(contender.contenderName())) {
            String title = contender.title();
            try (ProgressBar bar = new ProgressBar(progress, "Getting " + title + " from Maven", 1)) {
                mirrorMakers.put(
                        contender.contenderName(),
                        contender.isMirrorMaker1() ? new MirrorMaker1() : new MirrorMaker2());
                bar.update(1);
            }
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

    private void fill(KafkaCluster cluster, String label, DemoLoad load) {
        create(cluster);
        try (ProgressBar bar = new ProgressBar(progress, label, load.records())) {
            DemoRecords.write(cluster.clientConfig(), load, bar::update);
        }
    }

    private static void create(KafkaCluster cluster) {
        // Not plainly: the stock producer may never recover in a topic that is not served yet (KAFKA-15591).
        cluster.createServedTopic(TOPIC, PARTITIONS, 1, Map.of());
    }

    /** On both sides, because a mirror that creates thousands of partitions would be measured while it does. */
    private static void createIdle(KafkaCluster source, KafkaCluster target, int partitions) {
        if (partitions > 0) {
            source.createServedTopic(IDLE_TOPIC, partitions, 1, Map.of());
            target.createServedTopic(IDLE_TOPIC, partitions, 1, Map.of());
        }
    }

    private TopicDigest digest(KafkaCluster cluster, String label) {
        try (ProgressBar bar = new ProgressBar(progress, label, plan.load().records())) {
            return TopicDigest.read(cluster.clientConfig(), TOPIC, bar::update);
        }
    }

    private Measurement.Figures mirror(
            KafkaCluster source, KafkaCluster target, Contender contender, MirrorMaker.Job job, String step) {
        if (!contender.createsTopic()) {
            create(target);
        }
        try (ProgressBar bar =
                new ProgressBar(progress, "Mirroring, " + step, job.load().records())) {
            BrokerCpu brokers = new BrokerCpu(source, target, bar::update);
            return run(contender, job, brokers).with(brokers);
        }
    }

    private Measurement.Figures run(Contender contender, MirrorMaker.Job job, RunListener listener) {
        if (contender.isMirrorMaker()) {
            return mirrorMakers.get(contender.contenderName()).run(contender, job, listener);
        }
        List<String> args = new ArrayList<>(List.of(
                "--source=" + job.source(),
                "--target=" + job.target(),
                "--topics=" + (job.load().idlePartitions() > 0 ? TOPIC + "," + IDLE_TOPIC : TOPIC),
                "--threads=" + job.threads(),
                "--group=" + job.group(),
                "--target-setting=compression.type=" + job.load().compression()));
        args.addAll(contender.options());
        Class<?> main = contender == Contender.REPLAY ? ReplayRun.class : DemoRun.class;
        return DemoProcess.run(System.getProperty("java.class.path"), DemoProcess.ownOptions(), main, args, listener);
    }

    private static DemoRow row(
            DemoPlan.Run run, Measurement.Figures figures, TopicDigest expected, TopicDigest actual) {
        if (run.contender().isMirrorMaker1()) {
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
