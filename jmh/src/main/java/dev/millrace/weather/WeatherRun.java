package dev.millrace.weather;

import dev.millrace.faults.FaultLog;
import dev.millrace.faults.Faults;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.oracle.TopicDigest;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.internal.CompressionType;

/** One climate: two clusters, a mirror between them, the weather, and a judgement of what is there when it is over. */
final class WeatherRun {
    private static final Duration CHECK = Duration.ofMillis(200);
    /** About how long the calm lasts: who writes shall not have finished before. */
    private static final Duration CALM = Duration.ofSeconds(10);

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
    private static final int SECOND_HALF = 10;
    private static final int FIRST_TOPIC = 20;

    private final Climate climate;
    private final Path launcher;
    private final Optional<MirrorTwin> twin;
    private final PrintStream out;
    private final long startNs = System.nanoTime();
    private final FaultLog log;
    private final Judgement judgement = new Judgement();
    private final GoneRecords gone = new GoneRecords();

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
        CopiedProgress copied = new CopiedProgress(source, target, climate);
        ReaderGroup group = new ReaderGroup(
                source,
                target,
                climate.topicNames(),
                climate.mirror().prefix(),
                Climate.random(climate.seed(), READER_GROUP));
        try {
            for (TopicKind kind : climate.topics()) {
                source.create(kind);
                topics.add(new SourceTopic(source, kind, Climate.random(climate.seed(), FIRST_TOPIC + topics.size())));
            }
            topics.forEach(SourceTopic::writeBacklog);
            fleet.start();
            breakThings(new Scene(climate, source, target, topics, copied, gone, fleet), group);
        } finally {
            topics.forEach(SourceTopic::close);
        }
        log.tell("the weather is over");
        judgeProgress("at the end", copied, fleet);
        judgeCopiesMadeAgain(source, target);
        judgeReadable(copied);
        fleet.judgeReadiness();
        fleet.judgeFootprints();
        log.tell("all is copied; stopping");
        fleet.stop();
        log.tell("comparing");
        judgement.foundFaults(log.faults());
        judge(source, target, group, fleet);
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
            judgeProgress("in the calm", scene.copied(), scene.fleet());
            scene.fleet().noteFootprints();
            breakThings(SECOND_HALF, half, scene);
        } finally {
            end.countDown();
            group.stop();
        }
        others.forEach(CompletableFuture::join);
    }

    private void breakThings(int part, Duration time, Scene scene) throws InterruptedException {
        CountDownLatch end = new CountDownLatch(1);
        ClusterFaults clusters =
                new ClusterFaults(scene, Climate.random(climate.seed(), part + CLUSTER_FAULTS), log, end);
        MirrorFaults mirrors = new MirrorFaults(
                scene.fleet(),
                part == SECOND_HALF && climate.doProcessesLast(),
                clusters,
                Climate.random(climate.seed(), part + MIRROR_FAULTS),
                log,
                end);
        List<String> failures = Faults.runAll(List.of(clusters, mirrors), end, time);
        if (!failures.isEmpty()) {
            throw new IllegalStateException(String.join("; ", failures));
        }
        scene.source().awaitAllInSync();
        scene.target().awaitAllInSync();
    }

    private static void watch(MirrorFleet fleet, CountDownLatch end) {
        while (end.getCount() > 0) {
            fleet.check();
            LockSupport.parkNanos(CHECK.toNanos());
        }
    }

    /** Blocks until all that is at the source now is copied and committed, or time runs out. */
    private void judgeProgress(String when, CopiedProgress copied, MirrorFleet fleet)
            throws ExecutionException, TimeoutException {
        Map<TopicPartition, Long> ends = copied.ends();
        Await.holdsWithin(climate.bound(), () -> {
            fleet.check();
            return copied.behind(ends).isEmpty();
        });
        Map<TopicPartition, String> behind = copied.behind(ends);
        judgement.found(Rule.STUCK, behind.size(), when + ": " + behind);
    }

    /** Blocks until copies that were deleted have all again, or time runs out; what is missing then is found later. */
    private void judgeCopiesMadeAgain(Side source, Side target) throws ExecutionException, TimeoutException {
        for (String topic : climate.topicNames()) {
            if (gone.wasCopyDeleted(topic)) {
                TopicDigest present = source.read(topic, record -> true);
                Await.holdsWithin(climate.bound(), () -> isComplete(present, target, climate.copyOf(topic)));
            }
        }
    }

    private static boolean isComplete(TopicDigest present, Side target, String copy) {
        try {
            return present.compare(target.read(copy, record -> true)).lost() == 0;
        } catch (ExecutionException | TimeoutException e) {
            return false;
        }
    }

    /** Blocks until no transaction is open on the target, or time runs out. */
    private void judgeReadable(CopiedProgress copied) {
        Await.holdsWithin(climate.bound(), () -> copied.inOpenTransactions().isEmpty());
        Map<TopicPartition, String> open = copied.inOpenTransactions();
        judgement.found(Rule.STUCK, open.size(), "a transaction is open on the target: " + open);
    }

    private void judge(Side source, Side target, ReaderGroup group, MirrorFleet fleet)
            throws ExecutionException, TimeoutException {
        for (TopicKind topic : climate.topics()) {
            Promise promise = Promise.of(
                    climate.mirror(),
                    topic,
                    fleet.wasFrozen(),
                    !gone.isEmpty(topic.name()),
                    gone.wasCopyDeleted(topic.name()));
            judgeRecords(topic, promise, source, target, fleet);
            judgeCodecs(topic, target);
            if (climate.mirror().hasGroups()) {
                group.judge(
                        topic.name(),
                        promise,
                        fleet.wasKilled() || fleet.wasFrozen(),
                        !gone.isEmpty(topic.name()),
                        judgement);
            }
        }
        if (!fleet.wasFrozen()) {
            group.judgeSetBack(judgement, gone);
        }
        fleet.judgeSecrets();
    }

    private void judgeRecords(TopicKind topic, Promise promise, Side source, Side target, MirrorFleet fleet)
            throws ExecutionException, TimeoutException {
        TopicDigest present = source.read(topic.name(), record -> true);
        TopicDigest committed = gone.committed(topic.name()).plus(present);
        TopicDigest withAborted = topic.isTransactional()
                ? gone.all(topic.name())
                        .plus(source.read(topic.name(), IsolationLevel.READ_UNCOMMITTED, record -> true))
                : committed;
        TopicDigest copy = target.read(climate.copyOf(topic.name()), record -> true);
        // Nobody names again what had gone before its copy went.
        long named = gone.wasCopyDeleted(topic.name()) ? committed.records() : fleet.named(topic.name());
        judgement.judge(
                topic.toString(),
                promise,
                committed.compare(copy),
                withAborted.compare(copy),
                present.compare(copy),
                named);
    }

    private void judgeCodecs(TopicKind topic, Side target) throws ExecutionException, TimeoutException {
        if (climate.mirror().isThroughConsumers()) {
            return;
        }
        for (TopicPartition partition : target.partitions(List.of(climate.copyOf(topic.name())))) {
            Set<CompressionType> codecs = StoredCodecs.of(target.cluster(), partition);
            codecs.remove(topic.codec());
            judgement.found(Rule.RECODED, codecs.size(), partition + " has batches of " + codecs + "; " + topic);
        }
    }

    private void report(MirrorFleet fleet) {
        judgement.examples().forEach(out::println);
        if (!judgement.isClean()) {
            Path folder = Path.of(System.getProperty("java.io.tmpdir"), "millrace-weather", "seed-" + climate.seed());
            fleet.saveOutput(folder);
            out.println("What the mirrors have printed is in " + folder);
        }
        out.println("Faults: " + log.kinds());
    }
}
