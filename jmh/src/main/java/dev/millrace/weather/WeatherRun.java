package dev.millrace.weather;

import dev.millrace.faults.FaultLog;
import dev.millrace.faults.Faults;
import dev.millrace.testkit.oracle.TopicDigest;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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
    /** What waits for a cluster that is away must not keep others from a thread. */
    private static final Executor RUNNER = task -> {
        Thread thread = new Thread(task, "weather");
        thread.setDaemon(true);
        thread.start();
    };

    /** The first part of the seed that chooses records; those before choose the climate and the faults. */
    private static final int FIRST_TOPIC = 3;

    private final Climate climate;
    private final Path launcher;
    private final PrintStream out;
    private final long startNs = System.nanoTime();
    private final FaultLog log;

    /** @param launcher the command {@code mirror} */
    WeatherRun(Climate climate, Path launcher, PrintStream out) {
        this.climate = climate;
        this.launcher = launcher;
        this.out = out;
        log = new FaultLog(() -> (System.nanoTime() - startNs) / 1_000_000, out);
    }

    /**
     * What a run has found.
     *
     * @param stuck partitions that were not copied and committed in time
     * @param exits mirrors that have ended by themselves, or badly
     */
    record Result(Judgement judgement, int faults, int stuck, int exits) {
        static final Result NOTHING = new Result(Judgement.NOTHING, 0, 0, 0);

        Result plus(Result other) {
            return new Result(
                    judgement.plus(other.judgement), faults + other.faults, stuck + other.stuck, exits + other.exits);
        }

        boolean isClean() {
            return judgement.isClean() && stuck == 0 && exits == 0;
        }
    }

    /**
     * Blocks for some minutes, and prints what happens and what is found.
     *
     * @throws IllegalStateException if a cluster does not start, or does not recover from a fault: then nothing is judged
     */
    Result run() throws InterruptedException {
        out.println(climate);
        CompletableFuture<Side> starting =
                CompletableFuture.supplyAsync(() -> new Side("source", climate.sourceBrokers(), Map.of()));
        try (Side target = new Side("target", climate.targetBrokers(), targetSettings());
                Side source = starting.join()) {
            (climate.isSourceFar() ? source : target)
                    .moveAway(climate.bytesPerSecond(), Duration.ofMillis(climate.roundTripMs()));
            return run(source, target);
        }
    }

    private Map<String, String> targetSettings() {
        return climate.isForgetful() ? Map.of("producer.id.expiration.check.interval.ms", "1000") : Map.of();
    }

    private Result run(Side source, Side target) throws InterruptedException {
        List<SourceTopic> topics = new ArrayList<>();
        try (MirrorFleet fleet = new MirrorFleet(launcher, climate.mirror(), source, target)) {
            for (TopicKind kind : climate.topics()) {
                source.create(kind);
                topics.add(new SourceTopic(source, kind, Climate.random(climate.seed(), FIRST_TOPIC + topics.size())));
            }
            topics.forEach(SourceTopic::writeBacklog);
            fleet.start();
            boolean wasFrozen = breakThings(source, target, topics, fleet);
            log.tell("the weather is over");
            Map<TopicPartition, String> behind = awaitAll(source, target, fleet);
            log.tell("all is copied; stopping");
            fleet.stop();
            log.tell("comparing");
            Result result = new Result(judge(source, target, wasFrozen), log.faults(), behind.size(), fleet.exits());
            report(result, behind, fleet);
            return result;
        } finally {
            topics.forEach(SourceTopic::close);
        }
    }

    /** Blocks until all is written and nothing is broken any more; returns whether a process was frozen. */
    private boolean breakThings(Side source, Side target, List<SourceTopic> topics, MirrorFleet fleet)
            throws InterruptedException {
        Duration time = Duration.ofSeconds(climate.seconds());
        List<CompletableFuture<Void>> writing = topics.stream()
                .map(topic -> CompletableFuture.runAsync(() -> topic.writeOthers(time), RUNNER))
                .toList();
        CountDownLatch end = new CountDownLatch(1);
        ClusterFaults clusters = new ClusterFaults(source, target, topics, Climate.random(climate.seed(), 1), log, end);
        MirrorFaults mirrors = new MirrorFaults(fleet, clusters, Climate.random(climate.seed(), 2), log, end);
        CompletableFuture<Void> watching = CompletableFuture.runAsync(() -> watch(fleet, end), RUNNER);
        List<String> failures = Faults.runAll(List.of(clusters, mirrors), end, time);
        watching.join();
        writing.forEach(CompletableFuture::join);
        if (!failures.isEmpty()) {
            throw new IllegalStateException(String.join("; ", failures));
        }
        source.awaitAllInSync();
        target.awaitAllInSync();
        return mirrors.wasFrozen();
    }

    private static void watch(MirrorFleet fleet, CountDownLatch end) {
        while (end.getCount() > 0) {
            fleet.check();
            LockSupport.parkNanos(CHECK.toNanos());
        }
    }

    /** Blocks until all is copied and committed, or time runs out; then returns which partitions are behind, and how far. */
    private Map<TopicPartition, String> awaitAll(Side source, Side target, MirrorFleet fleet) {
        long deadline = System.nanoTime() + climate.bound().toNanos();
        while (true) {
            fleet.check();
            Map<TopicPartition, String> behind = behind(source, target);
            if (behind.isEmpty() || System.nanoTime() - deadline > 0) {
                return behind;
            }
            LockSupport.parkNanos(CHECK.toNanos());
        }
    }

    private Map<TopicPartition, String> behind(Side source, Side target) {
        Map<TopicPartition, String> behind = new HashMap<>();
        try {
            List<String> names = climate.topics().stream().map(TopicKind::name).toList();
            Map<TopicPartition, Long> committed =
                    (climate.mirror().isExactlyOnce() ? target : source).committed(MirrorFleet.GROUP);
            source.ends(source.partitions(names), IsolationLevel.READ_COMMITTED).forEach((partition, end) -> {
                long position = committed.getOrDefault(progressOf(partition), 0L);
                if (position < end) {
                    behind.put(partition, position + " of " + end + " are committed");
                }
            });
            List<TopicPartition> copies =
                    target.partitions(names.stream().map(this::copyOf).toList());
            Map<TopicPartition, Long> ends = target.ends(copies, IsolationLevel.READ_UNCOMMITTED);
            target.ends(copies, IsolationLevel.READ_COMMITTED).forEach((partition, stable) -> {
                if (stable < ends.getOrDefault(partition, 0L)) {
                    behind.put(partition, "a transaction is open on the target at " + stable);
                }
            });
        } catch (ExecutionException | TimeoutException e) {
            behind.put(new TopicPartition("unknown", 0), "a cluster does not answer: " + e);
        }
        return behind;
    }

    /** With exactly once the progress is on the target, by the names there, so that it is deleted with a topic. */
    private TopicPartition progressOf(TopicPartition partition) {
        return climate.mirror().isExactlyOnce()
                ? new TopicPartition(copyOf(partition.topic()), partition.partition())
                : partition;
    }

    private String copyOf(String topic) {
        return climate.mirror().prefix() + topic;
    }

    private Judgement judge(Side source, Side target, boolean wasFrozen) {
        Judgement all = Judgement.NOTHING;
        for (TopicKind topic : climate.topics()) {
            TopicDigest committed = read(source, topic.name(), "read_committed");
            TopicDigest withAborted =
                    topic.isTransactional() ? read(source, topic.name(), "read_uncommitted") : committed;
            TopicDigest copy = read(target, copyOf(topic.name()), "read_committed");
            Judgement.Promise promise = Judgement.Promise.of(climate.mirror(), topic, wasFrozen);
            Judgement one = Judgement.of(committed.compare(copy), withAborted.compare(copy), promise);
            if (!one.examples().isEmpty()) {
                out.printf("%s (%s, promised: %s):%n", topic.name(), topic, promise);
                one.examples().forEach(example -> out.println("  " + example));
            }
            all = all.plus(one);
        }
        return all;
    }

    /** Empty if there is no such topic. */
    private static TopicDigest read(Side side, String topic, String isolation) {
        try {
            if (!side.topics().contains(topic)) {
                return TopicDigest.EMPTY;
            }
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("The " + side + " does not tell its topics", e);
        }
        Map<String, Object> config = new HashMap<>(side.cluster().clientConfig());
        config.put("isolation.level", isolation);
        return TopicDigest.read(config, topic);
    }

    private void report(Result result, Map<TopicPartition, String> behind, MirrorFleet fleet) {
        Map<String, String> sorted = new TreeMap<>();
        behind.forEach((partition, why) -> sorted.put(partition.toString(), why));
        sorted.forEach((partition, why) -> out.println("stuck: " + partition + ": " + why));
        fleet.findings().forEach(out::println);
        if (!result.isClean()) {
            Path folder = Path.of(System.getProperty("java.io.tmpdir"), "millrace-weather", "seed-" + climate.seed());
            fleet.saveOutput(folder);
            out.println("What the mirrors have printed is in " + folder);
        }
        out.println("Faults: " + log.kinds());
    }
}
