package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.client.accumulator.EncodableRecord;
import dev.millrace.client.accumulator.ReadyQueues;
import dev.millrace.client.accumulator.Seed;
import dev.millrace.client.memory.BufferPool;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.StalledBrokers;
import dev.millrace.client.metadata.TopicRegistry;
import java.lang.reflect.Field;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Thousands of transactions of the I/O thread's code against a simulated cluster whose connections break, whose leaders
 * and coordinators move, and whose records expire: readers see every record of what was committed, once and in order,
 * and nothing else.
 */
class TransactionSimulationTest {
    private static final int PARTITIONS = 3;
    private static final int TRANSACTIONS = 12;
    private static final int RUNS = 150;
    private static final int MAX_ROUNDS = 200_000;
    private static final TopicPartition READ_FROM = new TopicPartition("source", 0);

    @ParameterizedTest
    @CsvSource({"false, 0.1, 1000000", "true, 0.1, 1000000", "false, 0.25, 300", "true, 0.25, 300"})
    void shouldShowCommittedTransactionsWholeAndOthersNotAtAll(
            boolean explicit, double faultRate, long deliveryTimeoutMs) throws Exception {
        int committed = 0;
        int failed = 0;
        for (long seed : Seed.several(RUNS)) {
            Run run = new Run(seed, faultRate, deliveryTimeoutMs, explicit, true);

            run.play();

            run.assertCommitted();
            assertThat(run.coordinator.offsets.get(READ_FROM))
                    .as("seed %d: offsets", seed)
                    .isEqualTo(run.committedOffset);
            assertThat(run.pool.available()).as("seed %d: free memory", seed).isEqualTo(run.pool.total());
            committed += run.commits;
            failed += run.failures;
        }
        assertThat(committed).as("transactions committed").isPositive();
        if (deliveryTimeoutMs < 1000) {
            assertThat(failed).as("transactions that could only be aborted").isPositive();
        } else {
            assertThat(failed)
                    .as("transactions that failed although nothing expired")
                    .isZero();
        }
    }

    @Test
    void shouldAbortWhenATopicIsGoneForGood() throws Exception {
        Run run = new Run(1, 0, 1_000_000, true, true);
        assertThat(run.await(run.state.initTransactions())).isNull();
        run.coordinator.knowsTopics = false;
        run.state.beginTransaction();
        assertThat(run.send()).isNull();
        for (int round = 0; round < 1000; round++) {
            run.runOnce();
        }

        run.abort(); // fails if it never ends

        run.coordinator.knowsTopics = true;
        run.commitOne();
        run.assertCommitted();
    }

    /** It may have been added by a request without an answer. The next transaction fails if this one is left open. */
    @ParameterizedTest
    @EnumSource(names = {"REQUEST", "ANSWER"})
    void shouldAbortWhenATopicIsGoneThatMayHaveBeenAdded(SimulatedCoordinator.Loss loss) throws Exception {
        Run run = new Run(1, 0, 1_000_000, true, true);
        assertThat(run.await(run.state.initTransactions())).isNull();
        run.coordinator.nextLoss = loss;
        run.state.beginTransaction();
        assertThat(run.send()).isNull();
        while (run.coordinator.nextLoss != SimulatedCoordinator.Loss.NONE) {
            run.runOnce();
        }
        run.coordinator.knowsTopics = false;
        for (int round = 0; round < 1000; round++) {
            run.runOnce();
        }

        run.abort(); // fails if it never ends

        assertThat(run.coordinator.isOngoing()).isFalse();
        run.coordinator.knowsTopics = true;
        run.commitOne();
        run.assertCommitted();
    }

    /** What the stock producer does in each case is in TransactionsContract. */
    @Test
    void shouldStartANewEpochWhenARecordFailedThatWasNeverSent() throws Exception {
        // given
        Run run = new Run(1, 0, 300, true, true);
        assertThat(run.await(run.state.initTransactions())).isNull();
        short epoch = run.coordinator.epoch();

        // when it expires while its partition cannot be added
        run.state.beginTransaction();
        run.coordinator.knowsTopics = false;
        run.send();
        run.untilItCanOnlyBeAborted();
        run.abort();

        // then
        assertThat(run.coordinator.epoch()).isEqualTo((short) (epoch + 1));
        run.coordinator.knowsTopics = true;
        run.commitOne();
        assertThat(run.coordinator.epoch()).as("after a commit").isEqualTo((short) (epoch + 1));
        run.assertCommitted();
    }

    @Test
    void shouldStartANewEpochWhenARecordWasRefusedAtOnce() throws Exception {
        Run run = new Run(2, 0, 1_000_000, true, true);
        assertThat(run.await(run.state.initTransactions())).isNull();
        short epoch = run.coordinator.epoch();

        run.state.beginTransaction();
        run.state.onRecordFailed(new RecordTooLargeException("refused"));
        run.abort();

        assertThat(run.coordinator.epoch()).isEqualTo((short) (epoch + 1));
        run.commitOne();
        run.assertCommitted();
    }

    @Test
    void shouldKeepTheEpochWhenNoRecordFailedBeforeTheAbort() throws Exception {
        Run run = new Run(3, 0, 1_000_000, true, true);
        assertThat(run.await(run.state.initTransactions())).isNull();
        short epoch = run.coordinator.epoch();

        run.state.beginTransaction();
        run.send();
        run.abort();

        assertThat(run.coordinator.epoch()).isEqualTo(epoch);
        run.commitOne();
        run.assertCommitted();
    }

    @Test
    void shouldGoOnUnderTheOldEpochWhenTheCoordinatorIsTooOldToGiveANewOne() throws Exception {
        Run run = new Run(4, 0, 1_000_000, true, true);
        run.coordinator.givesNewEpochs = false;
        assertThat(run.await(run.state.initTransactions())).isNull();

        run.state.beginTransaction();
        run.state.onRecordFailed(new RecordTooLargeException("refused"));
        run.abort();

        run.commitOne();
        run.assertCommitted();
    }

    /** A coordinator before Kafka 2.5 gives no new epoch, so the next records take the sequences of the refused ones. */
    @Test
    void shouldShowCommittedTransactionsWholeWhenSentRecordsAreRefusedAndThereIsNoNewEpoch() throws Exception {
        int committed = 0;
        int failed = 0;
        for (long seed : Seed.several(RUNS)) {
            Run run = new Run(seed, 0, 1_000_000, true, true);
            run.coordinator.givesNewEpochs = false;
            run.cluster.topic.refuse(0.1);

            run.play();

            run.assertCommitted();
            committed += run.commits;
            failed += run.failures;
        }
        assertThat(committed).as("transactions committed").isPositive();
        assertThat(failed).as("transactions that could only be aborted").isPositive();
    }

    /** What is not known to be written or not leaves nothing to go on with. */
    @Test
    void shouldEndForGoodWhenARecordMayBeWrittenAndThereIsNoNewEpoch() throws Exception {
        Run run = new Run(1, 0, 300, true, true);
        run.coordinator.givesNewEpochs = false;
        assertThat(run.await(run.state.initTransactions())).isNull();
        run.state.beginTransaction();
        run.cluster.silent(true);
        run.send();
        run.untilItCanOnlyBeAborted(); // it expires in flight
        run.cluster.silent(false);

        assertThat(run.await(run.state.abortTransaction())).isInstanceOf(UnsupportedVersionException.class);

        assertThat(run.state.view().phase()).isEqualTo(TransactionPhase.FATAL_ERROR);
    }

    /** The newer protocol: whatever was in a transaction, its end gives a new epoch. */
    @Test
    void shouldStartANewEpochWhenNothingButOffsetsWereInTheTransactionAndNotEvenTheyWereSent() throws Exception {
        Run run = new Run(5, 0, 1_000_000, false, true);
        assertThat(run.await(run.state.initTransactions())).isNull();
        short epoch = run.coordinator.epoch();

        run.state.beginTransaction();
        TransactionCall offsets =
                run.state.sendOffsetsToTransaction(Map.of(READ_FROM, new OffsetAndMetadata(7)), Run.group());
        run.state.onRecordFailed(new RecordTooLargeException("refused"));
        assertThat(run.await(offsets)).isInstanceOf(RecordTooLargeException.class);
        run.abort();

        assertThat(run.coordinator.epoch()).isEqualTo((short) (epoch + 1));
        run.commitOne();
        run.assertCommitted();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNotFailARecordOfTheNextTransactionWhenAThreadStillSeesTheAbort(boolean explicit) throws Exception {
        // given an abort for which the second thread has done its part
        Run run = Run.ofTwoThreads(explicit);
        assertThat(run.await(run.state.initTransactions())).isNull();
        run.state.beginTransaction();
        for (int p = 0; p < PARTITIONS; p++) {
            run.append(p);
        }
        TransactionCall abort = run.state.abortTransaction();
        run.untilDone(1);
        run.inTransaction.values().forEach(List::clear);

        // when the thread looks at the transaction, and a record of the next one is there before it has done what
        // follows
        run.append(1);
        run.shares.get(1).enforcePhase(drainerOf(run.ioThreads.get(1)));

        // then the record goes with the next transaction
        while (run.state.view().phase() == TransactionPhase.ABORTING) {
            run.ioThreads.get(0).runOnce();
        }
        assertThat(run.await(abort)).isNull();
        run.state.beginTransaction();
        assertThat(run.await(run.state.commitTransaction())).isNull();
        assertThat(run.cluster.topic.committed(1))
                .isEqualTo(run.inTransaction.get(1))
                .hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNotCommitWhenTheLastRecordIsRefusedJustAfterTheFirstThreadLooked(boolean explicit) throws Exception {
        // given a transaction that has written a record of each thread already
        Run run = Run.ofTwoThreads(explicit);
        assertThat(run.await(run.state.initTransactions())).isNull();
        run.state.beginTransaction();
        run.append(0);
        run.append(1);
        while (run.cluster.topic.log(0).isEmpty() || run.cluster.topic.log(1).isEmpty()) {
            run.runOnce();
        }

        // when the second thread learns that the next is refused, while the first decides whether to commit
        run.cluster.topic.refuse(1);
        run.append(1);
        TransactionCall commit = run.state.commitTransaction();
        run.untilDone(0);
        run.betweenLooks = () -> run.untilDone(1);
        run.ioThreads.get(0).runOnce();
        assertThat(run.shares.get(1).isDone(run.state.view().number())).isTrue();
        RuntimeException error = run.await(commit);
        run.abort();

        // then
        assertThat(error).isInstanceOf(InvalidTimestampException.class);
        assertThat(run.cluster.topic.committed(1)).isEmpty();
        run.cluster.topic.refuse(0);
        run.commitOne();
        run.assertCommitted();
    }

    /** Only what the coordinator refuses ends a commit: another broker may take the login again. */
    @Test
    void shouldFailACommitOnlyWhenItsCoordinatorRefusesTheLogin() throws Exception {
        for (boolean isCoordinator : new boolean[] {false, true}) {
            Run run = Run.ofTwoThreads(true);
            assertThat(run.await(run.state.initTransactions())).isNull();
            run.state.beginTransaction();
            run.append(0);
            TransactionCall commit = run.state.commitTransaction();

            run.cluster.refuseLogin(run.coordinator.node() + (isCoordinator ? 0 : 1));

            RuntimeException error = run.await(commit);
            if (isCoordinator) {
                assertThat(error).isInstanceOf(SaslAuthenticationException.class);
            } else {
                assertThat(error).isNull();
            }
        }
    }

    private static Drainer drainerOf(IoThread thread) throws ReflectiveOperationException {
        Field drainer = IoThread.class.getDeclaredField("drainer");
        drainer.setAccessible(true);
        return (Drainer) drainer.get(thread);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldFindDoubledRecordsWhenBrokersDoNotCheckSequences(boolean explicit) throws Exception {
        // the twin: with such brokers the same faults must be visible to the same checks
        int different = 0;
        for (long seed = 1; seed < 60; seed++) {
            Run run = new Run(seed, 0.1, 1_000_000, explicit, false);

            run.play();

            for (int p = 0; p < PARTITIONS; p++) {
                different += run.cluster.topic.committed(p).equals(run.committed.get(p)) ? 0 : 1;
            }
        }
        assertThat(different).isPositive();
    }

    /** One producer's I/O side, of one or two threads, its application and the cluster, played by a single thread. */
    static final class Run {
        private final long seed;
        private final Random random;
        final SimulatedCluster cluster;
        private final SimulatedCoordinator coordinator;
        private final BufferPool pool;
        private final Accumulator accumulator;
        private final TransactionState state;
        private final List<IoThread> ioThreads = new ArrayList<>();
        /** What other threads do after the first has looked at the state, and before it looks at the shares. */
        private Runnable betweenLooks = () -> {};

        private final List<IoThreadTransactionShare> shares = new ArrayList<>() {
            @Override
            public Stream<IoThreadTransactionShare> stream() {
                Runnable others = betweenLooks;
                betweenLooks = () -> {};
                others.run();
                return super.stream();
            }
        };
        private final Map<Integer, List<Long>> committed = new HashMap<>();
        private final Map<Integer, List<Long>> inTransaction = new HashMap<>();
        private OffsetAndMetadata committedOffset;
        private OffsetAndMetadata offsetInTransaction;
        private long nextValue;
        private int commits;
        private int failures;

        Run(long seed, double faultRate, long deliveryTimeoutMs, boolean explicit, boolean checksSequences) {
            this.seed = seed;
            this.random = new Random(seed);
            this.cluster = new SimulatedCluster(random, PARTITIONS, faultRate, checksSequences);
            this.coordinator = cluster.withTransactions(explicit);
            ReadyQueues ready = ReadyQueues.forThreads(1 + random.nextInt(2));
            this.pool = new BufferPool(1 << 20, 200, ready::wake);
            this.accumulator = new Accumulator(pool, ready, BatchCodec.NONE, cluster::nowMs, 5);
            this.state = new TransactionState("id", ready::wake);
            ClusterImages images = new ClusterImages(
                    ClusterImage.bootstrap(List.of(InetSocketAddress.createUnresolved("localhost", 1))));
            TopicRegistry registry = new TopicRegistry();
            registry.add(SimulatedCluster.TOPIC);
            SenderSettings settings = new SenderSettings(
                    5,
                    deliveryTimeoutMs,
                    Integer.MAX_VALUE,
                    new Backoff(10, 100, random::nextDouble),
                    1000,
                    5,
                    true,
                    60_000,
                    600_000,
                    true,
                    300_000,
                    true);
            List<IoContext> contexts = new ArrayList<>();
            for (int i = 0; i < ready.size(); i++) {
                contexts.add(new IoContext(
                        accumulator,
                        ready.get(i),
                        images,
                        registry,
                        new StalledBrokers(0),
                        cluster,
                        new NoMetrics(),
                        cluster::nowMs));
            }
            MetadataRefresh metadata = new MetadataRefresh(contexts.get(0), settings);
            ProducerIds ids = new ProducerIds(contexts.get(0), ready, settings);
            TransactionPartitions partitions = new TransactionPartitions(() -> {});
            TransactionDriver driver =
                    new TransactionDriver(state, partitions, shares, ids, contexts.get(0), settings.retryBackoff());
            for (IoContext context : contexts) {
                shares.add(new IoThreadTransactionShare(state, partitions, () -> {}));
                IoTask[] tasks = ioThreads.isEmpty() ? new IoTask[] {metadata, driver} : new IoTask[0];
                ioThreads.add(new IoThread(context, settings, ids, metadata, shares.get(shares.size() - 1), tasks));
            }
            cluster.onDisconnect((refusal, node) -> {
                metadata.onDisconnect(refusal);
                driver.onDisconnect(refusal, node);
            });
            for (int p = 0; p < PARTITIONS; p++) {
                committed.put(p, new ArrayList<>());
                inTransaction.put(p, new ArrayList<>());
            }
        }

        /** Without faults. */
        static Run ofTwoThreads(boolean explicit) {
            for (long seed = 1; ; seed++) {
                Run run = new Run(seed, 0, 1_000_000, explicit, true);
                if (run.ioThreads.size() == 2) {
                    return run;
                }
            }
        }

        void play() throws InterruptedException {
            assertThat(await(state.initTransactions()))
                    .as("seed %d: init", seed)
                    .isNull();
            for (int transaction = 0; transaction < TRANSACTIONS; transaction++) {
                playTransaction();
            }
        }

        private void playTransaction() throws InterruptedException {
            state.beginTransaction();
            RuntimeException error = null;
            int records = random.nextInt(40);
            for (int i = 0; i < records && error == null; i++) {
                error = send();
                runSometimes();
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
            inTransaction.values().forEach(List::clear);
            offsetInTransaction = null;
        }

        private RuntimeException send() throws InterruptedException {
            try {
                state.enterSend();
            } catch (KafkaException e) {
                return e;
            }
            append();
            state.exitSend();
            return null;
        }

        private void append() throws InterruptedException {
            append(random.nextInt(PARTITIONS));
        }

        private void append(int partition) throws InterruptedException {
            long value = nextValue++;
            byte[] bytes = ByteBuffer.allocate(Long.BYTES + random.nextInt(60))
                    .putLong(value)
                    .array();
            EncodableRecord record = new EncodableRecord(cluster.nowMs(), null, bytes, new byte[] {0});
            inTransaction.get(partition).add(value);
            accumulator.append(SimulatedCluster.TOPIC, 0, partition, record, null, 0);
        }

        private RuntimeException sendOffsets() {
            offsetInTransaction = new OffsetAndMetadata(nextValue, Optional.empty(), "");
            try {
                return await(state.sendOffsetsToTransaction(Map.of(READ_FROM, offsetInTransaction), group()));
            } catch (KafkaException e) {
                return e;
            }
        }

        @SuppressWarnings("removal") // there is no other way without a consumer in a group
        private static ConsumerGroupMetadata group() {
            return new ConsumerGroupMetadata("group");
        }

        /** With a send that passed the gate before the commit, and appends its record only after it has begun. */
        private RuntimeException commit() throws InterruptedException {
            RuntimeException error;
            try {
                state.enterSend();
                TransactionCall call;
                try {
                    call = state.commitTransaction();
                    runSometimes();
                    append();
                } finally {
                    state.exitSend();
                }
                error = await(call);
            } catch (KafkaException e) {
                error = e;
            }
            if (error == null) {
                commits++;
                inTransaction.forEach(
                        (partition, values) -> committed.get(partition).addAll(values));
                committedOffset = offsetInTransaction == null ? committedOffset : offsetInTransaction;
            }
            return error;
        }

        private void abort() {
            if (state.view().phase().isOngoing()) {
                assertThat(await(state.abortTransaction()))
                        .as("seed %d: abort", seed)
                        .isNull();
            }
        }

        /** What the call failed with, or null. */
        private RuntimeException await(TransactionCall call) {
            for (int round = 0; round < MAX_ROUNDS; round++) {
                try {
                    call.await(0);
                    return null;
                } catch (TimeoutException e) {
                    runOnce();
                } catch (RuntimeException e) {
                    return e;
                }
            }
            throw new AssertionError("seed " + seed + ": " + call.name() + " never ends");
        }

        /** Only one of the threads goes on, until it has done its part in the end of the transaction. */
        void untilDone(int thread) {
            for (int round = 0; !shares.get(thread).isDone(state.view().number()); round++) {
                assertThat(round).isLessThan(MAX_ROUNDS);
                ioThreads.get(thread).runOnce();
            }
        }

        /** After an abort. */
        void commitOne() throws InterruptedException {
            inTransaction.values().forEach(List::clear);
            state.beginTransaction();
            assertThat(send()).isNull();
            assertThat(commit()).isNull();
            inTransaction.values().forEach(List::clear);
        }

        void assertCommitted() {
            for (int p = 0; p < PARTITIONS; p++) {
                assertThat(cluster.topic.committed(p))
                        .as("seed %d partition %d", seed, p)
                        .isEqualTo(committed.get(p))
                        .doesNotHaveDuplicates();
            }
        }

        void untilItCanOnlyBeAborted() {
            for (int round = 0; round < MAX_ROUNDS && !state.view().phase().isError(); round++) {
                runOnce();
            }
            assertThat(state.view().phase()).isEqualTo(TransactionPhase.ABORTABLE_ERROR);
        }

        private void runSometimes() {
            for (int i = random.nextInt(3); i > 0; i--) {
                runOnce();
            }
        }

        private void runOnce() {
            ioThreads.get(random.nextInt(ioThreads.size())).runOnce();
        }
    }
}
