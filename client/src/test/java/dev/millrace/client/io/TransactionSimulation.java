package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.accumulator.RecordFuture;
import dev.millrace.client.delivery.DeliveryCallback;
import dev.millrace.client.delivery.DeliveryCertainty;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/**
 * An application with a transactional producer, and one simulated cluster. A second producer may take the transactional
 * id at any time; the first one then goes on for a while. What the application was told is kept for
 * {@link TransactionOracle}.
 */
final class TransactionSimulation {
    static final int PARTITIONS = 3;
    static final TopicPartition READ_FROM = new TopicPartition("source", 0);
    private static final int TRANSACTIONS = 12;

    final long seed;
    final World world;
    final Random random;
    final SimulatedCluster cluster;
    final SimulatedTransactionLink link;
    final SimulatedCoordinator coordinator;

    /** In the order in which they were begun. */
    final List<Transaction> transactions = new ArrayList<>();

    final Map<Long, Outcome> outcomes = new HashMap<>();
    private final List<String> violations = new ArrayList<>();

    TransactionalClient client;
    private Transaction current;

    /** A producer that is not the newest one any more, and its transaction. */
    private TransactionalClient fenced;

    private Transaction ofFenced;
    private long nextValue;
    int commits;
    int failures;
    int takeovers;

    /**
     * What the producer has to cope with.
     *
     * @param explicit whether it is the older protocol
     * @param transactionTimeoutMs the application sometimes takes longer
     * @param hasSecondProducer whether another producer sometimes takes the transactional id
     * @param recordAgeMs if it is more than a day, brokers forget who wrote them once the transaction is over
     */
    record World(
            boolean explicit,
            double faultRate,
            long deliveryTimeoutMs,
            boolean leadersFail,
            long transactionTimeoutMs,
            boolean hasSecondProducer,
            long recordAgeMs) {
        static final long NEVER_MS = 1_000_000_000;

        /** Only connections break, and leaders and coordinators move. */
        static World of(boolean explicit, double faultRate) {
            return new World(explicit, faultRate, NEVER_MS, false, NEVER_MS, false, 0);
        }

        World withExpiry(long timeoutMs) {
            return new World(
                    explicit, faultRate, timeoutMs, leadersFail, transactionTimeoutMs, hasSecondProducer, recordAgeMs);
        }

        /** Leaders fail with what is not replicated, and requests are carried out late. */
        World withFailures() {
            return new World(
                    explicit, faultRate, deliveryTimeoutMs, true, transactionTimeoutMs, hasSecondProducer, recordAgeMs);
        }

        World withTransactionTimeout(long timeoutMs) {
            return new World(
                    explicit, faultRate, deliveryTimeoutMs, leadersFail, timeoutMs, hasSecondProducer, recordAgeMs);
        }

        World withSecondProducer() {
            return new World(
                    explicit, faultRate, deliveryTimeoutMs, leadersFail, transactionTimeoutMs, true, recordAgeMs);
        }

        World withOldRecords() {
            return new World(
                    explicit,
                    faultRate,
                    deliveryTimeoutMs,
                    leadersFail,
                    transactionTimeoutMs,
                    hasSecondProducer,
                    30 * SimulatedTopic.DAY_MS);
        }

        boolean nothingMayFail() {
            return deliveryTimeoutMs == NEVER_MS && transactionTimeoutMs == NEVER_MS && !hasSecondProducer;
        }
    }

    /** How a transaction ended, as the application knows it. */
    enum End {
        COMMITTED,
        ABORTED,
        /** A commit failed, and so did the producer. */
        UNKNOWN
    }

    /** What the application did in a transaction. */
    static final class Transaction {
        final Map<Integer, List<Long>> values = new HashMap<>();
        private final int[] completed = new int[PARTITIONS];
        OffsetAndMetadata offset;
        End end = End.ABORTED;

        Transaction() {
            for (int p = 0; p < PARTITIONS; p++) {
                values.put(p, new ArrayList<>());
            }
        }

        Stream<Long> allValues() {
            return values.values().stream().flatMap(List::stream);
        }
    }

    /** What was told of a record; {@code metadata} is null until its callback has run. */
    static final class Outcome {
        final Transaction transaction;
        final int partition;
        final RecordFuture future;
        RecordMetadata metadata;
        Exception error;
        DeliveryCertainty certainty;

        Outcome(Transaction transaction, int partition, RecordFuture future) {
            this.transaction = transaction;
            this.partition = partition;
            this.future = future;
        }
    }

    TransactionSimulation(long seed, World world, boolean checksSequences) {
        this.seed = seed;
        this.world = world;
        this.random = new Random(seed);
        this.cluster = new SimulatedCluster(random, PARTITIONS, world.faultRate, checksSequences);
        this.link = cluster.withTransactions(world.explicit);
        this.coordinator = link.coordinator;
        coordinator.timeoutMs = world.transactionTimeoutMs;
        if (world.recordAgeMs > 0) {
            cluster.topic.forgetProducersAfter(SimulatedTopic.DAY_MS);
        }
        if (world.leadersFail) {
            cluster.topic.failLeaders(0);
            cluster.carryOutLate();
        }
        this.client = new TransactionalClient(seed, random, cluster, world.deliveryTimeoutMs);
    }

    /** Without faults, with two I/O threads. */
    static TransactionSimulation ofTwoThreads(boolean explicit) {
        for (long seed = 1; ; seed++) {
            TransactionSimulation run = new TransactionSimulation(seed, World.of(explicit, 0), true);
            if (run.client.ioThreads.size() == 2) {
                return run;
            }
        }
    }

    void play() throws InterruptedException {
        init();
        for (int i = 0; i < TRANSACTIONS; i++) {
            if (world.hasSecondProducer && fenced == null && random.nextInt(6) == 0) {
                takeOverInTransaction();
            }
            playTransaction();
            if (client.isFailed()) {
                replace();
            }
        }
        closeFenced();
        cluster.endFaults();
        client.cluster.endFaults();
        untilReadersSeeAll();
    }

    void init() {
        assertThat(client.await(client.state.initTransactions()))
                .as("seed %d: init", seed)
                .isNull();
    }

    /** The producer has failed: the application closes it and opens another one. */
    private void replace() {
        close(client);
        takeId();
    }

    private void close(TransactionalClient closed) {
        closed.close();
        violations.addAll(closed.cluster.violations());
        if (closed.pool.available() != closed.pool.total()) {
            violations.add("a closed producer has not given its memory back");
        }
    }

    private void takeId() {
        client = new TransactionalClient(seed, random, client.cluster.ofAnotherClient(), world.deliveryTimeoutMs);
        init();
        takeovers++;
    }

    /** Another producer takes the id while a transaction is open, whose producer goes on. */
    private void takeOverInTransaction() throws InterruptedException {
        begin();
        for (int i = random.nextInt(10); i > 0; i--) {
            send();
            runSometimes();
        }
        fenced = client;
        ofFenced = current;
        takeId();
    }

    /** The application's end of a producer that was fenced learns of it, or does not. */
    private void playFenced() throws InterruptedException {
        TransactionalClient newest = client;
        Transaction ofNewest = current;
        client = fenced;
        current = ofFenced;
        switch (random.nextInt(4)) {
            case 0 -> send();
            case 1 -> runSometimes();
            case 2 -> {
                RuntimeException error = commit();
                if (error == null) {
                    violations.add("a fenced producer has committed");
                }
                current.end = End.ABORTED; // by the other one
                closeFenced();
            }
            default -> {}
        }
        client = newest;
        current = ofNewest;
    }

    private void closeFenced() {
        if (fenced != null) {
            close(fenced);
            fenced = null;
        }
    }

    private void playTransaction() throws InterruptedException {
        begin();
        RuntimeException error = null;
        for (int i = random.nextInt(40); i > 0 && error == null; i--) {
            error = send();
            runSometimes();
            if (fenced != null && random.nextInt(8) == 0) {
                playFenced();
            }
        }
        if (world.transactionTimeoutMs < World.NEVER_MS && random.nextInt(4) == 0) {
            pause();
        }
        if (error == null && random.nextInt(3) == 0) {
            error = sendOffsets();
        }
        if (error == null && random.nextInt(4) > 0) {
            error = commit();
        } else {
            abort();
        }
        if (error != null) {
            failures++;
            abort();
        }
    }

    /** As if the application had something else to do. */
    private void pause() {
        long untilMs = cluster.nowMs() + random.nextInt((int) (2 * world.transactionTimeoutMs));
        while (cluster.nowMs() < untilMs) {
            runOnce();
        }
    }

    void begin() {
        client.state.beginTransaction();
        expectTransaction();
    }

    /** What is appended from here on is of the next transaction. */
    Transaction expectTransaction() {
        current = new Transaction();
        transactions.add(current);
        return current;
    }

    /** What {@code send} throws, or null. */
    RuntimeException send() throws InterruptedException {
        try {
            client.state.enterSend();
        } catch (KafkaException e) {
            return e;
        }
        append();
        client.state.exitSend();
        return null;
    }

    private void append() throws InterruptedException {
        append(random.nextInt(PARTITIONS));
    }

    void append(int partition) throws InterruptedException {
        long value = nextValue++;
        current.values.get(partition).add(value);
        DeliveryCallback callback =
                (metadata, error, certainty) -> onCompletion(value, new Told(metadata, error, certainty));
        outcomes.put(
                value, new Outcome(current, partition, client.append(partition, value, world.recordAgeMs, callback)));
    }

    private record Told(RecordMetadata metadata, Exception error, DeliveryCertainty certainty) {}

    /** Violations are noted, because what a callback throws is caught. */
    private void onCompletion(long value, Told told) {
        Outcome outcome = outcomes.get(value);
        if (outcome.certainty != null) {
            violations.add("the callback of " + value + " ran twice");
        }
        if (outcome.future.isDone()) {
            violations.add("the future of " + value + " was done before its callback");
        }
        List<Long> inOrder = outcome.transaction.values.get(outcome.partition);
        if (inOrder.get(outcome.transaction.completed[outcome.partition]++) != value) {
            violations.add("the callback of " + value + " did not run in the order of sending");
        }
        cluster.note("told", value, told);
        outcome.metadata = told.metadata;
        outcome.error = told.error;
        outcome.certainty = told.certainty;
    }

    private RuntimeException sendOffsets() {
        current.offset = new OffsetAndMetadata(nextValue, Optional.empty(), "");
        try {
            return client.await(client.state.sendOffsetsToTransaction(Map.of(READ_FROM, current.offset), group()));
        } catch (KafkaException e) {
            return e;
        }
    }

    @SuppressWarnings("removal") // there is no other way without a consumer in a group
    static ConsumerGroupMetadata group() {
        return new ConsumerGroupMetadata("group");
    }

    /** With a send that passed the gate before the commit, and appends its record only after it has begun. */
    RuntimeException commit() throws InterruptedException {
        RuntimeException error;
        try {
            client.state.enterSend();
            TransactionCall call;
            try {
                call = client.state.commitTransaction();
                runSometimes();
                append();
            } finally {
                client.state.exitSend();
            }
            error = client.await(call);
            checkEnded(error);
            current.end = error == null ? End.COMMITTED : client.isFailed() ? End.UNKNOWN : End.ABORTED;
        } catch (KafkaException e) {
            error = e;
        }
        commits += error == null ? 1 : 0;
        return error;
    }

    /** Unless the producer has failed. */
    void abort() {
        if (client.state.view().phase().isOngoing()) {
            RuntimeException error = client.await(client.state.abortTransaction());
            checkEnded(error);
            assertThat(error == null || (client.isFailed() && !world.nothingMayFail()))
                    .as("seed %d: abort: %s", seed, error)
                    .isTrue();
        }
    }

    private void checkEnded(RuntimeException error) {
        if (error == null && coordinator.isOngoing()) {
            violations.add("a transaction is ended, and open at the coordinator");
        }
    }

    /** After an abort. */
    void commitOne() throws InterruptedException {
        begin();
        assertThat(send()).isNull();
        assertThat(commit()).isNull();
        untilReadersSeeAll();
    }

    /** Every marker is written, and no transaction is open. */
    void untilReadersSeeAll() {
        for (int round = 0; coordinator.isEnding(); round++) {
            assertThat(round).as("seed %d: markers", seed).isLessThan(TransactionalClient.MAX_ROUNDS);
            client.runOnce();
        }
    }

    void untilItCanOnlyBeAborted() {
        for (int round = 0;
                round < TransactionalClient.MAX_ROUNDS
                        && !client.state.view().phase().isError();
                round++) {
            runOnce();
        }
        assertThat(client.state.view().phase()).isEqualTo(TransactionPhase.ABORTABLE_ERROR);
    }

    private void runSometimes() {
        for (int i = random.nextInt(3); i > 0; i--) {
            runOnce();
        }
    }

    void runOnce() {
        client.runOnce();
    }

    /** What happened that must not happen. */
    List<String> violations() {
        return Stream.concat(violations.stream(), client.cluster.violations().stream())
                .toList();
    }
}
