package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.accumulator.Seed;
import dev.millrace.client.io.TransactionSimulation.World;
import java.lang.reflect.Field;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Thousands of transactions of the I/O thread's code against a simulated cluster whose connections break, whose leaders
 * and coordinators move, whose records expire, and whose transactional id
 * other producers take: readers see every record of what was committed, once and in order, and nothing else.
 */
class TransactionSimulationTest {
    private static final int RUNS = 150;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldShowCommittedTransactionsWholeAndOthersNotAtAll(boolean explicit) throws Exception {
        Played played = play(World.of(explicit, 0.1));

        assertThat(played.failures)
                .as("transactions that failed although nothing expired")
                .isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldShowNothingOfTransactionsWhoseRecordsExpire(boolean explicit) throws Exception {
        Played played = play(World.of(explicit, 0.25).withExpiry(300));

        assertThat(played.failures)
                .as("transactions that could only be aborted")
                .isPositive();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCommitEveryTransactionWhenLeadersFailAndRequestsAreCarriedOutLate(boolean explicit) throws Exception {
        Played played = play(World.of(explicit, 0.1).withFailures());

        assertThat(played.failures)
                .as("transactions that failed although nothing expired")
                .isZero();
    }

    /**
     * They do not while the transaction is open. By the older protocol, several transactions have one epoch, so it
     * remains unknown whether the log has lost earlier batches of the transaction.
     */
    @Test
    void shouldCommitEveryTransactionWhenBrokersForgetWhoWroteOldRecords() throws Exception {
        Played played = play(World.of(false, 0.1).withFailures().withOldRecords());

        assertThat(played.failures)
                .as("transactions that failed although nothing expired")
                .isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldShowNothingOfTransactionsThatTookTooLong(boolean explicit) throws Exception {
        Played played = play(World.of(explicit, 0.1).withTransactionTimeout(2_000));

        assertThat(played.timeouts).as("transactions that took too long").isPositive();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldShowNothingOfAProducerAfterAnotherHasTakenItsId(boolean explicit) throws Exception {
        Played played = play(World.of(explicit, 0.1).withSecondProducer());

        assertThat(played.takeovers).as("producers that were fenced").isPositive();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldShowCommittedTransactionsWholeWhenEverythingGoesWrong(boolean explicit) throws Exception {
        play(World.of(explicit, 0.2)
                .withExpiry(1_000)
                .withFailures()
                .withTransactionTimeout(2_000)
                .withSecondProducer()
                .withOldRecords());
    }

    private static Played play(World world) throws InterruptedException {
        Played played = new Played();
        for (long seed : Seed.several(RUNS)) {
            TransactionSimulation run = new TransactionSimulation(seed, world, true);
            try {
                run.play();
            } catch (RuntimeException e) {
                throw new AssertionError("seed " + seed, e);
            }
            new TransactionOracle(run).assertAll();
            played.add(run);
        }
        assertThat(played.commits).as("transactions committed").isPositive();
        return played;
    }

    private static final class Played {
        int commits;
        int failures;
        int timeouts;
        int takeovers;

        void add(TransactionSimulation run) {
            commits += run.commits;
            failures += run.failures;
            timeouts += run.coordinator.timeouts;
            takeovers += run.takeovers;
        }
    }

    @Test
    void shouldAbortWhenATopicIsGoneForGood() throws Exception {
        TransactionSimulation run = calm(1, true);
        run.init();
        run.link.knowsTopics = false;
        run.begin();
        assertThat(run.send()).isNull();
        for (int round = 0; round < 1000; round++) {
            run.runOnce();
        }

        run.abort(); // fails if it never ends

        run.link.knowsTopics = true;
        run.commitOne();
        assertCommitted(run);
    }

    /** It may have been added by a request without an answer. The next transaction fails if this one is left open. */
    @ParameterizedTest
    @EnumSource(names = {"REQUEST", "ANSWER"})
    void shouldAbortWhenATopicIsGoneThatMayHaveBeenAdded(SimulatedTransactionLink.Loss loss) throws Exception {
        TransactionSimulation run = calm(1, true);
        run.init();
        run.link.nextLoss = loss;
        run.begin();
        assertThat(run.send()).isNull();
        while (run.link.nextLoss != SimulatedTransactionLink.Loss.NONE) {
            run.runOnce();
        }
        run.link.knowsTopics = false;
        for (int round = 0; round < 1000; round++) {
            run.runOnce();
        }

        run.abort(); // fails if it never ends

        assertThat(run.coordinator.isOngoing()).isFalse();
        run.link.knowsTopics = true;
        run.commitOne();
        assertCommitted(run);
    }

    /** What the stock producer does in each case is in TransactionsContract. */
    @Test
    void shouldStartANewEpochWhenARecordFailedThatWasNeverSent() throws Exception {
        // given
        TransactionSimulation run = expiring(1);
        run.init();
        short epoch = run.coordinator.epoch();

        // when it expires while its partition cannot be added
        run.begin();
        run.link.knowsTopics = false;
        run.send();
        run.untilItCanOnlyBeAborted();
        run.abort();

        // then
        assertThat(run.coordinator.epoch()).isEqualTo((short) (epoch + 1));
        run.link.knowsTopics = true;
        run.commitOne();
        assertThat(run.coordinator.epoch()).as("after a commit").isEqualTo((short) (epoch + 1));
        assertCommitted(run);
    }

    @Test
    void shouldStartANewEpochWhenARecordWasRefusedAtOnce() throws Exception {
        TransactionSimulation run = calm(2, true);
        run.init();
        short epoch = run.coordinator.epoch();

        run.begin();
        run.client.state.onRecordFailed(new RecordTooLargeException("refused"));
        run.abort();

        assertThat(run.coordinator.epoch()).isEqualTo((short) (epoch + 1));
        run.commitOne();
        assertCommitted(run);
    }

    @Test
    void shouldKeepTheEpochWhenNoRecordFailedBeforeTheAbort() throws Exception {
        TransactionSimulation run = calm(3, true);
        run.init();
        short epoch = run.coordinator.epoch();

        run.begin();
        run.send();
        run.abort();

        assertThat(run.coordinator.epoch()).isEqualTo(epoch);
        run.commitOne();
        assertCommitted(run);
    }

    @Test
    void shouldGoOnUnderTheOldEpochWhenTheCoordinatorIsTooOldToGiveANewOne() throws Exception {
        TransactionSimulation run = calm(4, true);
        run.coordinator.givesNewEpochs = false;
        run.init();

        run.begin();
        run.client.state.onRecordFailed(new RecordTooLargeException("refused"));
        run.abort();

        run.commitOne();
        assertCommitted(run);
    }

    /** A coordinator before Kafka 2.5 gives no new epoch, so the next records take the sequences of the refused ones. */
    @Test
    void shouldShowCommittedTransactionsWholeWhenSentRecordsAreRefusedAndThereIsNoNewEpoch() throws Exception {
        int committed = 0;
        int failed = 0;
        for (long seed : Seed.several(RUNS)) {
            TransactionSimulation run = calm(seed, true);
            run.coordinator.givesNewEpochs = false;
            run.cluster.topic.refuse(0.1);

            run.play();

            assertCommitted(run);
            committed += run.commits;
            failed += run.failures;
        }
        assertThat(committed).as("transactions committed").isPositive();
        assertThat(failed).as("transactions that could only be aborted").isPositive();
    }

    /** What is not known to be written or not leaves nothing to go on with. */
    @Test
    void shouldEndForGoodWhenARecordMayBeWrittenAndThereIsNoNewEpoch() throws Exception {
        TransactionSimulation run = expiring(1);
        run.coordinator.givesNewEpochs = false;
        run.init();
        run.begin();
        run.cluster.silent(true);
        run.send();
        run.untilItCanOnlyBeAborted(); // it expires in flight
        run.cluster.silent(false);

        assertThat(run.client.await(run.client.state.abortTransaction()))
                .isInstanceOf(UnsupportedVersionException.class);

        assertThat(run.client.state.view().phase()).isEqualTo(TransactionPhase.FATAL_ERROR);
    }

    /** The newer protocol: whatever was in a transaction, its end gives a new epoch. */
    @Test
    void shouldStartANewEpochWhenNothingButOffsetsWereInTheTransactionAndNotEvenTheyWereSent() throws Exception {
        TransactionSimulation run = calm(5, false);
        run.init();
        short epoch = run.coordinator.epoch();

        run.begin();
        TransactionCall offsets = run.client.state.sendOffsetsToTransaction(
                Map.of(TransactionSimulation.READ_FROM, new OffsetAndMetadata(7)), TransactionSimulation.group());
        run.client.state.onRecordFailed(new RecordTooLargeException("refused"));
        assertThat(run.client.await(offsets)).isInstanceOf(RecordTooLargeException.class);
        run.abort();

        assertThat(run.coordinator.epoch()).isEqualTo((short) (epoch + 1));
        run.commitOne();
        assertCommitted(run);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNotFailARecordOfTheNextTransactionWhenAThreadStillSeesTheAbort(boolean explicit) throws Exception {
        // given an abort for which the second thread has done its part
        TransactionSimulation run = TransactionSimulation.ofTwoThreads(explicit);
        run.init();
        run.begin();
        for (int p = 0; p < TransactionSimulation.PARTITIONS; p++) {
            run.append(p);
        }
        TransactionCall abort = run.client.state.abortTransaction();
        run.client.untilDone(1);
        TransactionSimulation.Transaction next = run.expectTransaction();

        // when the thread looks at the transaction, and a record of the next one is there before it has done what
        // follows
        run.append(1);
        run.client.shares.get(1).enforcePhase(drainerOf(run.client.ioThreads.get(1)));

        // then the record goes with the next transaction
        while (run.client.state.view().phase() == TransactionPhase.ABORTING) {
            run.client.ioThreads.get(0).runOnce();
        }
        assertThat(run.client.await(abort)).isNull();
        run.client.state.beginTransaction();
        assertThat(run.client.await(run.client.state.commitTransaction())).isNull();
        run.untilReadersSeeAll();
        assertThat(run.cluster.topic.committed(1)).isEqualTo(next.values.get(1)).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNotCommitWhenTheLastRecordIsRefusedJustAfterTheFirstThreadLooked(boolean explicit) throws Exception {
        // given a transaction that has written a record of each thread already
        TransactionSimulation run = TransactionSimulation.ofTwoThreads(explicit);
        run.init();
        run.begin();
        run.append(0);
        run.append(1);
        while (run.cluster.topic.log(0).isEmpty() || run.cluster.topic.log(1).isEmpty()) {
            run.runOnce();
        }

        // when the second thread learns that the next is refused, while the first decides whether to commit
        run.cluster.topic.refuse(1);
        run.append(1);
        TransactionCall commit = run.client.state.commitTransaction();
        run.client.untilDone(0);
        run.client.betweenLooks = () -> run.client.untilDone(1);
        run.client.ioThreads.get(0).runOnce();
        assertThat(run.client.shares.get(1).isDone(run.client.state.view().number()))
                .isTrue();
        RuntimeException error = run.client.await(commit);
        run.abort();

        // then
        assertThat(error).isInstanceOf(InvalidTimestampException.class);
        assertThat(run.cluster.topic.committed(1)).isEmpty();
        run.cluster.topic.refuse(0);
        run.commitOne();
        assertCommitted(run);
    }

    /** Only what the coordinator refuses ends a commit: another broker may take the login again. */
    @Test
    void shouldFailACommitOnlyWhenItsCoordinatorRefusesTheLogin() throws Exception {
        for (boolean isCoordinator : new boolean[] {false, true}) {
            TransactionSimulation run = TransactionSimulation.ofTwoThreads(true);
            run.init();
            run.begin();
            run.append(0);
            TransactionCall commit = run.client.state.commitTransaction();

            run.cluster.refuseLogin(run.link.node() + (isCoordinator ? 0 : 1));

            RuntimeException error = run.client.await(commit);
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
            TransactionSimulation run = new TransactionSimulation(seed, World.of(explicit, 0.1), false);

            run.play();

            try {
                assertCommitted(run);
            } catch (AssertionError e) {
                different++;
            }
        }
        assertThat(different).isPositive();
    }

    private static TransactionSimulation calm(long seed, boolean explicit) {
        return new TransactionSimulation(seed, World.of(explicit, 0), true);
    }

    private static TransactionSimulation expiring(long seed) {
        return new TransactionSimulation(seed, World.of(true, 0).withExpiry(300), true);
    }

    private static void assertCommitted(TransactionSimulation run) {
        new TransactionOracle(run).assertCommitted();
    }
}
