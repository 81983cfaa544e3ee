package dev.millrace.chaos;

import dev.millrace.faults.FaultLog;
import dev.millrace.faults.Faults;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.oracle.TransactionLedger;
import dev.millrace.testkit.oracle.TransactionVerdict;
import dev.millrace.testkit.oracle.TransactionVerdict.Violation;
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
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;

/** One run with transactions: play and read them while faults happen, let the cluster recover, read back, compare. */
final class TransactionRun {
    private static final int SENDERS = 4;
    private static final int READERS = 2;

    /** Of the first sender, which waits for it; Kafka's default is a minute. */
    private static final int SHORT_TIMEOUT_MS = 2_000;

    /** How many transactions each sender must commit when the faults are over. */
    private static final int COMMITS_AFTER_FAULTS = 3;

    /** From the end of all faults until all senders have recovered, and until they have ended. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /** Those that have a number of their own in the last line. */
    private static final Set<Violation> COUNTED = EnumSet.of(
            Violation.LOST,
            Violation.ABORTED_READ,
            Violation.DIRTY_READ,
            Violation.PARTIAL,
            Violation.DOUBLED,
            Violation.REORDERED);

    private final KafkaCluster brokers;
    private final long seed;
    private final boolean isStock;
    private final PrintStream out;
    private final List<ChaosTopic> topics;

    /** What faults happen to: also the coordinators move, and must be in sync. */
    private final List<ChaosTopic> exposed;

    private final TransactionLedger ledger;
    private final FaultLog log;
    private final List<TransactionalSender> senders = new ArrayList<>();
    private final List<CommittedReader> readers = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();

    TransactionRun(KafkaCluster brokers, long seed, boolean isStock, PrintStream out) {
        this.brokers = brokers;
        this.seed = seed;
        this.isStock = isStock;
        this.out = out;
        topics = List.of(
                new ChaosTopic("lists-1-" + seed, ChaosTopic.Kind.KEPT, 2),
                new ChaosTopic("lists-2-" + seed, ChaosTopic.Kind.KEPT, 4));
        exposed = Stream.concat(
                        topics.stream(), Stream.of(new ChaosTopic("__transaction_state", ChaosTopic.Kind.KEPT, 4)))
                .toList();
        ledger = new TransactionLedger(seed);
        log = new FaultLog(ledger::nowMs, out);
    }

    /** Blocks until all is read back, and prints what it found; returns whether nothing is wrong. */
    boolean run(Duration time) throws InterruptedException {
        ProducerSetup setup = ProducerSetup.of(new Random(seed));
        out.println("Seed " + seed + ": transactions of " + (isStock ? "Kafka's producer" : "Millrace") + ", " + setup);
        try (ChaosCluster cluster = new ChaosCluster(brokers)) {
            topics.forEach(cluster::create);
            List<Thread> sending = startSenders(setup, cluster);
            List<Thread> reading = startReaders();
            awaitCommits("the first transactions are committed", 1);
            failures.addAll(breakThings(cluster, setup, time));
            log.tell("the faults are over");
            failures.addAll(cluster.awaitEndOfFaults(names(exposed)));
            awaitCommits("all senders commit again", COMMITS_AFTER_FAULTS);
            awaitFenced();
            await("all consumers read", () -> readers.stream().allMatch(reader -> reader.records() > 0));
            senders.forEach(TransactionalSender::stop);
            join(sending);
            readers.forEach(CommittedReader::stop);
            join(reading);
        }
        senders.stream()
                .map(TransactionalSender::failure)
                .filter(text -> !text.isEmpty())
                .forEach(failures::add);
        readers.stream()
                .map(CommittedReader::failure)
                .filter(text -> !text.isEmpty())
                .forEach(failures::add);
        log.tell("all have ended; reading");
        return report(ledger.judge(brokers.clientConfig(), names(topics)));
    }

    private List<Thread> startSenders(ProducerSetup setup, ChaosCluster cluster) {
        var target = new TransactionalSender.Target(topics, cluster, seed);
        for (int number = 0; number < SENDERS; number++) {
            String id = "sender-" + seed + "-" + number;
            Map<String, Object> more = number == 0
                    ? Map.of("transactional.id", id, "transaction.timeout.ms", SHORT_TIMEOUT_MS)
                    : Map.of("transactional.id", id);
            senders.add(
                    new TransactionalSender(id, number, () -> setup.create(brokers, isStock, more), ledger, target));
        }
        return senders.stream().map(TransactionRun::start).toList();
    }

    private List<Thread> startReaders() {
        List<TopicPartition> partitions = topics.stream()
                .flatMap(topic ->
                        IntStream.range(0, topic.partitions()).mapToObj(p -> new TopicPartition(topic.name(), p)))
                .toList();
        for (int i = 0; i < READERS; i++) {
            readers.add(new CommittedReader(brokers.clientConfig(), partitions, ledger.reads()));
        }
        return readers.stream().map(TransactionRun::start).toList();
    }

    private static Thread start(Runnable task) {
        Thread thread = new Thread(task, task.getClass().getSimpleName());
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private List<String> breakThings(ChaosCluster cluster, ProducerSetup setup, Duration time)
            throws InterruptedException {
        CountDownLatch end = new CountDownLatch(1);
        List<Faults> rows = new ArrayList<>();
        rows.add(new BrokerFaults(brokers, cluster, exposed, new Random(seed + 1), log, end));
        if (setup.listener() == Listener.PROXIED) {
            rows.add(NetworkFaults.ofTransactions(brokers, new Random(seed + 3), log, end));
        }
        return Faults.runAll(rows, end, time);
    }

    /** Blocks until each sender has committed so many more. */
    private void awaitCommits(String what, int more) {
        List<Integer> before =
                senders.stream().map(TransactionalSender::committed).toList();
        await(
                what,
                () -> IntStream.range(0, SENDERS)
                        .allMatch(i -> senders.get(i).committed() >= before.get(i) + more
                                || !senders.get(i).failure().isEmpty()));
    }

    /** Blocks until one more producer was told that it is fenced. */
    private void awaitFenced() {
        int before = fenced();
        await("a producer is told that it is fenced", () -> fenced() > before);
    }

    private int fenced() {
        return senders.stream().mapToInt(TransactionalSender::fenced).sum();
    }

    private void await(String what, BooleanSupplier condition) {
        try {
            Await.until(what, PATIENCE, condition);
        } catch (IllegalStateException e) {
            failures.add(e.getMessage());
        }
    }

    private void join(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join(PATIENCE.toMillis());
            if (thread.isAlive()) {
                failures.add(thread.getName() + " does not end");
            }
        }
    }

    private static Collection<String> names(List<ChaosTopic> topics) {
        return topics.stream().map(ChaosTopic::name).toList();
    }

    private boolean report(TransactionVerdict verdict) {
        verdict.examples().forEach(out::println);
        failures.forEach(out::println);
        Map<Violation, Long> others = new EnumMap<>(Violation.class);
        others.putAll(verdict.violations());
        others.keySet().removeAll(COUNTED);
        if (!others.isEmpty()) {
            out.println("Other violations: " + others);
        }
        out.println("Faults: " + log.kinds());
        out.printf(
                "%d records are there; consumers read %s meanwhile. %d producers were fenced by a new one."
                        + " Of %d unknown transactions %d are there.%n",
                verdict.records(),
                readers.stream().map(CommittedReader::records).toList(),
                fenced(),
                verdict.unknown(),
                verdict.unknownButVisible());
        out.printf(
                Locale.ROOT,
                "transactions %d committed %d aborted %d unknown %d lost %d aborted-read %d dirty-read %d partial %d"
                        + " doubled %d reordered %d faults %d seed %d%n",
                verdict.transactions(),
                verdict.committed(),
                verdict.aborted(),
                verdict.unknown(),
                verdict.count(Violation.LOST),
                verdict.count(Violation.ABORTED_READ),
                verdict.count(Violation.DIRTY_READ),
                verdict.count(Violation.PARTIAL),
                verdict.count(Violation.DOUBLED),
                verdict.count(Violation.REORDERED),
                log.faults(),
                seed);
        return verdict.isClean() && failures.isEmpty();
    }
}
