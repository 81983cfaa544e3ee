package dev.millrace.chaos;

import dev.millrace.faults.FaultLog;
import dev.millrace.faults.Faults;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.oracle.LedgerVerdict;
import dev.millrace.testkit.oracle.LedgerVerdict.Tolerated;
import dev.millrace.testkit.oracle.LedgerVerdict.Violation;
import dev.millrace.testkit.oracle.SendLedger;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.Producer;

/** One run: send while faults happen, let the cluster recover, read back, compare. */
final class ChaosRun {
    /** From the end of all faults until every record has an outcome: it is far more than the settings promise. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /**
     * How many records each topic must acknowledge after the faults, and at least as many must have been expected when all
     * was read: of fewer it would say little that they are as told.
     */
    private static final int ENOUGH = 300;

    /** Those that have a number of their own in the last line. */
    private static final Set<Violation> COUNTED =
            EnumSet.of(Violation.LOST, Violation.DOUBLED, Violation.REORDERED, Violation.MISROUTED);

    private final KafkaCluster brokers;
    private final long seed;
    private final boolean isStock;
    private final PrintStream out;
    private final List<ChaosTopic> topics;
    private final SendLedger ledger;
    private final FaultLog log;

    ChaosRun(KafkaCluster brokers, long seed, boolean isStock, PrintStream out) {
        this.brokers = brokers;
        this.seed = seed;
        this.isStock = isStock;
        this.out = out;
        topics = Stream.of(
                        new ChaosTopic("kept-1-" + seed, ChaosTopic.Kind.KEPT, 3),
                        new ChaosTopic("kept-2-" + seed, ChaosTopic.Kind.KEPT, 6),
                        new ChaosTopic("backfill-" + seed, ChaosTopic.Kind.BACKFILL, 2),
                        new ChaosTopic("refusing-" + seed, ChaosTopic.Kind.REFUSING, 2),
                        new ChaosTopic("sole-" + seed, ChaosTopic.Kind.SOLE, 2),
                        new ChaosTopic("unclean-" + seed, ChaosTopic.Kind.UNCLEAN, 2),
                        new ChaosTopic("churned-1-" + seed, ChaosTopic.Kind.CHURNED, 3),
                        new ChaosTopic("churned-2-" + seed, ChaosTopic.Kind.CHURNED, 1))
                .toList();
        ledger = new SendLedger(seed);
        log = new FaultLog(ledger::nowMs, out);
    }

    /** Blocks until all is read back, and prints what it found; returns whether nothing is wrong. */
    boolean run(Duration time) throws InterruptedException {
        ProducerSetup setup = ProducerSetup.of(new Random(seed));
        out.println("Seed " + seed + ": " + (isStock ? "Kafka's producer" : "Millrace") + ", " + setup);
        try (ChaosCluster cluster = new ChaosCluster(brokers)) {
            topics.forEach(cluster::create);
            Producer<byte[], byte[]> producer = setup.create(brokers, isStock, Map.of());
            List<String> failures = new ArrayList<>();
            try {
                Senders senders = new Senders(producer, ledger, topics, seed);
                senders.start();
                failures.addAll(breakThings(cluster, setup, time));
                log.tell("the faults are over");
                failures.addAll(cluster.awaitEndOfFaults(names()));
                cluster.updatePartitions(topics);
                senders.awaitRecovery(ENOUGH, PATIENCE);
                senders.stop(PATIENCE);
                failures.addAll(flush(producer));
                senders.checkFutures();
                failures.addAll(senders.failures());
            } finally {
                producer.close(Duration.ofSeconds(30));
            }
            log.tell("all have an outcome; reading");
            LedgerVerdict verdict = judge(cluster);
            failures.addAll(tooFew(verdict, names()));
            return report(verdict, failures);
        }
    }

    private Collection<String> names() {
        return topics.stream().map(ChaosTopic::name).toList();
    }

    private List<String> breakThings(ChaosCluster cluster, ProducerSetup setup, Duration time)
            throws InterruptedException {
        CountDownLatch end = new CountDownLatch(1);
        List<Faults> rows = new ArrayList<>();
        rows.add(new BrokerFaults(brokers, cluster, topics, new Random(seed + 1), log, end));
        rows.add(new TopicFaults(cluster, topics, new Random(seed + 2), log, end));
        rows.add(new SettingFaults(cluster, topics, new Random(seed + 4), log, end));
        rows.add(new ForgottenProducers(cluster, topics, new Random(seed + 5), log, end));
        if (setup.listener() == Listener.PROXIED) {
            rows.add(NetworkFaults.ofRecords(brokers, new Random(seed + 3), log, end));
        }
        return Faults.runAll(rows, end, time);
    }

    private static List<String> flush(Producer<?, ?> producer) throws InterruptedException {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            thread.submit(producer::flush).get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            return List.of();
        } catch (ExecutionException e) {
            return List.of("flush threw " + e.getCause());
        } catch (TimeoutException e) {
            return List.of("flush has not returned within " + PATIENCE.toSeconds() + " s");
        } finally {
            thread.shutdown();
        }
    }

    /** Says of which topics too few acknowledged records could be judged. */
    static List<String> tooFew(LedgerVerdict verdict, Collection<String> topics) {
        return topics.stream()
                .filter(topic -> verdict.expected().getOrDefault(topic, 0L) < ENOUGH)
                .map(topic -> "Only " + verdict.expected().getOrDefault(topic, 0L) + " acknowledged records of " + topic
                        + " could be judged, fewer than " + ENOUGH)
                .toList();
    }

    private LedgerVerdict judge(ChaosCluster cluster) {
        return ledger.judge(
                brokers.clientConfig(),
                topics.stream().collect(Collectors.toMap(ChaosTopic::name, ChaosTopic::terms)),
                cluster.existing(names()));
    }

    private boolean report(LedgerVerdict verdict, List<String> failures) {
        verdict.examples().forEach(out::println);
        failures.forEach(out::println);
        out.println("Faults: " + log.kinds());
        out.println("Acknowledged records that must be there: " + new TreeMap<>(verdict.expected()));
        out.printf(
                Locale.ROOT,
                "Not judged, because Kafka may lose it: of %d acknowledged before the last unclean election %d are gone;"
                        + " of %d acknowledged by topics that were deleted %d are gone. Of %d unknown %d were written."
                        + " %d were told without an offset, %d with the timestamp of their batch.%n",
                verdict.count(Tolerated.ACKNOWLEDGED_BEFORE_UNCLEAN_ELECTION),
                verdict.count(Tolerated.GONE_BY_UNCLEAN_ELECTION),
                verdict.count(Tolerated.ACKNOWLEDGED_BY_DELETED_TOPIC),
                verdict.count(Tolerated.GONE_WITH_DELETED_TOPIC),
                verdict.unknown(),
                verdict.unknownButWritten(),
                verdict.count(Tolerated.OFFSET_NOT_TOLD),
                verdict.count(Tolerated.TIMESTAMP_OF_A_WHOLE_BATCH));
        Map<Violation, Long> others = new EnumMap<>(Violation.class);
        others.putAll(verdict.violations());
        others.keySet().removeAll(COUNTED);
        if (!others.isEmpty()) {
            out.println("Other violations: " + others);
        }
        out.printf(
                Locale.ROOT,
                "sent %d acknowledged %d failed %d unknown %d lost %d doubled %d reordered %d misrouted %d faults %d seed %d%n",
                verdict.sent(),
                verdict.acknowledged(),
                verdict.failed(),
                verdict.unknown(),
                verdict.count(Violation.LOST),
                verdict.count(Violation.DOUBLED),
                verdict.count(Violation.REORDERED),
                verdict.count(Violation.MISROUTED),
                log.faults(),
                seed);
        return verdict.isClean() && failures.isEmpty();
    }
}
