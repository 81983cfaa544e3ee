package dev.millrace.weather;

import dev.millrace.faults.FaultLog;
import dev.millrace.faults.Faults;
import dev.millrace.testkit.Await;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/** One climate: two clusters, a mirror between them, the weather, and a judgement of what is there when it is over. */
final class WeatherRun {
    private static final Duration CHECK = Duration.ofMillis(200);
    /** About how long the calm lasts: who writes shall not have finished before. */
    private static final Duration CALM = Duration.ofSeconds(10);

    private static final Duration START = Duration.ofMinutes(2);

    /** What waits for a cluster that is away must not keep others from a thread. */
    private static final Executor RUNNER = task -> {
        Thread thread = new Thread(task, "weather");
        thread.setDaemon(true);
        thread.start();
    };

    /** Parts of the seed; 0 chooses the climate. */
    private static final int CLUSTER_FAULTS = 1;

    private static final int MIRROR_FAULTS = 2;
    private static final int READER_GROUP = 3;
    private static final int STRANGER = 4;
    private static final int SOURCE_LOSS = 5;
    private static final int START_TIME = 6;
    private static final int SECOND_HALF = 10;
    private static final int FIRST_TOPIC = 20;

    private final Climate climate;
    private final Path launcher;
    private final Optional<MirrorTwin> twin;
    private final PrintStream out;
    private final long startNs = System.nanoTime();
    private final FaultLog log;
    private final Judgement judgement = new Judgement();

    /**
     * @param launcher the command {@code mirror}
     * @param twin runs in place of the mirror
     */
    WeatherRun(Climate climate, Path launcher, Optional<MirrorTwin> twin, PrintStream out) {
        this.climate = climate;
        this.launcher = launcher;
        this.twin = twin;
        this.out = out;
        log = new FaultLog(() -> (System.nanoTime() - startNs) / 1_000_000, out);
    }

    /**
     * Blocks for some minutes, and prints what happens and what is found. Call it once.
     *
     * @throws IllegalStateException if a cluster does not start, or does not recover from a fault: then nothing is judged
     */
    Judgement run() throws InterruptedException {
        out.println(climate);
        CompletableFuture<Side> starting =
                CompletableFuture.supplyAsync(() -> new Side("source", climate.source()), RUNNER);
        try (Side target = new Side("target", climate.target());
                Side source = starting.join()) {
            source.restrict(MirrorRights.onSource(climate));
            target.restrict(MirrorRights.onTarget(climate));
            (climate.link().isSourceFar() ? source : target).moveAway(climate.link());
            try (MirrorFleet fleet = new MirrorFleet(launcher, climate, twin, source, target, judgement)) {
                mirror(source, target, fleet);
                report(fleet);
            }
            return judgement;
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("A cluster that is not broken does not answer", e);
        }
    }

    private void mirror(Side source, Side target, MirrorFleet fleet)
            throws InterruptedException, ExecutionException, TimeoutException {
        List<SourceTopic> topics = new ArrayList<>();
        Scene scene = new Scene(
                climate, source, target, topics, new CopiedProgress(source, target, climate), new GoneRecords(), fleet);
        ReaderGroup group = new ReaderGroup(source, target, climate, Climate.random(climate.seed(), READER_GROUP));
        try {
            for (TopicKind kind : climate.topics()) {
                source.create(kind.name(), kind.partitions(), kind.settings());
                if (kind.isRefused()) {
                    target.create(climate.copyOf(kind.name()), kind.partitions(), kind.settingsOfRefusingCopy());
                }
                topics.add(new SourceTopic(source, kind, Climate.random(climate.seed(), FIRST_TOPIC + topics.size())));
            }
            begin(scene);
            breakThings(scene, group);
        } finally {
            topics.forEach(SourceTopic::close);
        }
        log.tell("the weather is over");
        new ProgressJudge(scene, judgement).judgeTheEnd();
        CopyJudge judge = new CopyJudge(scene, judgement);
        boolean isTurned = false;
        if (judge.isCutoverPossible()) {
            log.tell("all is copied; moving to the target");
            isTurned = fleet.cutOver();
        } else {
            log.tell("all is copied; stopping");
            fleet.stop(() -> false);
        }
        log.tell("comparing");
        judgement.foundFaults(log.faults());
        judge.judge(group);
        if (isTurned) {
            log.tell("the way back");
            try {
                new WayBack(scene, judgement).judge();
            } catch (IllegalStateException e) { // nothing is broken, so it is not the clusters
                judgement.found(Rule.STUCK, 1, "on the way back: " + e.getMessage());
            }
        }
        fleet.judgeSecrets();
    }

    /** Starts the mirror, and writes what is there before it. */
    private void begin(Scene scene) throws ExecutionException, TimeoutException {
        MirrorFleet fleet = scene.fleet();
        if (climate.start() == Start.END_OF_EMPTY_TOPICS) {
            startPlaced(scene);
            scene.topics().forEach(SourceTopic::writeBacklog);
            return;
        }
        scene.topics().forEach(SourceTopic::writeBacklog);
        if (climate.start().leavesOut()) {
            scene.topics().forEach(topic -> topic.whileSilent(() -> {}));
            Await.until("no transaction is open", START, scene.copied()::isDecided);
            fleet.startAt(leaveOut(scene));
            startPlaced(scene);
        } else {
            fleet.start(() -> {});
        }
    }

    /** Before they have a member, other processes that start at the same time may say once more where the end is. */
    private void startPlaced(Scene scene) {
        scene.fleet().start(() -> {
            if (!Await.holdsWithin(START, scene.copied()::isPlaced)) {
                judgement.found(Rule.STUCK, 1, "the mirror does not know where to begin");
            }
        });
    }

    /** Leaves out what is there, or what is older than the newer half of some topic; returns where that begins. */
    private String leaveOut(Scene scene) throws ExecutionException, TimeoutException {
        Side source = scene.source();
        List<TopicPartition> partitions = source.partitions(climate.topicNames());
        if (climate.start() == Start.END) {
            source.leaveOut(source.ends(partitions, IsolationLevel.READ_COMMITTED));
            return "latest";
        }
        SourceTopic topic = Chance.any(scene.topics(), Climate.random(climate.seed(), START_TIME));
        long time = topic.middleTimestamp();
        source.leaveOut(source.offsetsAt(partitions, time));
        return Instant.ofEpochMilli(time).toString();
    }

    /**
     * Faults, then a calm in which all that is there must be copied though more is written, then faults again. Blocks until
     * all is written and nothing is broken any more.
     */
    private void breakThings(Scene scene, ReaderGroup group)
            throws InterruptedException, ExecutionException, TimeoutException {
        Duration half = Duration.ofSeconds(climate.seconds()).dividedBy(2);
        Duration writing = half.multipliedBy(2).plus(CALM);
        CountDownLatch end = new CountDownLatch(1);
        List<CompletableFuture<Void>> others = new ArrayList<>();
        scene.topics()
                .forEach(topic -> others.add(CompletableFuture.runAsync(() -> topic.writeOthers(writing), RUNNER)));
        others.add(CompletableFuture.runAsync(() -> watch(scene.fleet(), end), RUNNER));
        for (TopicKind topic : climate.topics()) {
            if (topic.hasStranger()) {
                Stranger stranger = new Stranger(
                        scene.target(), topic, climate.copyOf(topic.name()), Climate.random(climate.seed(), STRANGER));
                others.add(CompletableFuture.runAsync(() -> stranger.writeUntil(end), RUNNER));
            }
        }
        if (climate.mirror().hasGroups()) {
            others.add(CompletableFuture.runAsync(group::move, RUNNER));
        }
        try {
            breakThings(0, half, scene);
            log.tell("calm");
            new ProgressJudge(scene, judgement).judgeProgress("in the calm");
            scene.fleet().noteFootprints();
            breakThings(SECOND_HALF, half, scene);
        } finally {
            end.countDown();
            group.stop();
        }
        others.forEach(CompletableFuture::join);
    }

    private void breakThings(int part, Duration time, Scene scene)
            throws InterruptedException, ExecutionException, TimeoutException {
        CountDownLatch end = new CountDownLatch(1);
        ClusterFaults clusters =
                new ClusterFaults(scene, Climate.random(climate.seed(), part + CLUSTER_FAULTS), log, end);
        MirrorFaults mirrors = new MirrorFaults(
                scene, part == SECOND_HALF, clusters, Climate.random(climate.seed(), part + MIRROR_FAULTS), log, end);
        List<String> failures = Faults.runAll(List.of(clusters, mirrors), end, time);
        if (!failures.isEmpty()) {
            throw new IllegalStateException(String.join("; ", failures));
        }
        scene.source().awaitAllInSync();
        scene.target().awaitAllInSync();
        scene.fleet().resume(); // a process that was frozen has perhaps not been told
        if (part != SECOND_HALF) {
            long begunNs = System.nanoTime();
            new SourceLossFault(scene, Climate.random(climate.seed(), SOURCE_LOSS), log)
                    .happen(() -> clusters.wereBrokenSince(begunNs));
        }
    }

    private static void watch(MirrorFleet fleet, CountDownLatch end) {
        while (end.getCount() > 0) {
            fleet.check();
            LockSupport.parkNanos(CHECK.toNanos());
        }
    }

    private void report(MirrorFleet fleet) {
        judgement.examples().forEach(out::println);
        if (!judgement.isClean()) {
            out.println("What the mirrors have printed is in " + fleet.saveOutput("seed-" + climate.seed() + "-"));
        }
        out.println("Faults: " + log.kinds());
    }
}
