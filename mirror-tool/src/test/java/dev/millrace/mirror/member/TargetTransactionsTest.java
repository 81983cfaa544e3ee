package dev.millrace.mirror.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.mirror.copy.CopyTarget;
import dev.millrace.mirror.pass.BatchMaker;
import dev.millrace.mirror.pass.OpenDecision;
import dev.millrace.mirror.pass.PassMode;
import dev.millrace.mirror.pass.TargetLimits;
import dev.millrace.mirror.refused.RecordWithdrawal.GivenUpException;
import dev.millrace.mirror.support.FakePartition;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TargetTransactionsTest {
    private static final TopicPartition TP = new TopicPartition("orders", 0);
    private static final ConsumerGroupMetadata GROUP = group("mirror");
    private static final Map<TopicPartition, OffsetAndMetadata> POSITIONS = Map.of(TP, new OffsetAndMetadata(3));

    private final Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>();
    private final List<TransactionalProducer> producers = new ArrayList<>();
    private final FakePartition partition = new FakePartition();
    private Runnable beforeOpen = () -> {};
    private long now = 1;
    private int asked;
    private final TargetTransactions transactions =
            new TargetTransactions("mirror-1", this::createProducer, this::createTarget, () -> now);

    @Test
    void shouldStartOnceTheCoordinatorAnswers() {
        producer().initTransactionException = new TimeoutException("no coordinator");
        assertThat(transactions.tryStart()).isFalse();
        assertThat(transactions.isStarted()).isFalse();

        producer().initTransactionException = null;

        assertThat(transactions.tryStart()).isTrue();
        assertThat(transactions.isStarted()).isTrue();
        assertThat(producer().transactionInFlight()).isTrue();
        assertThat(producers).hasSize(1);
    }

    @Test
    void shouldTakeAnotherIdWhenTheCoordinatorCannotEndTheFormerTransactionForLong() {
        producer().initTransactionException = new TimeoutException("a partition has no leader");
        now += TimeUnit.SECONDS.toNanos(10);
        assertThat(transactions.tryStart()).isFalse();
        assertThat(producers).hasSize(1);

        now++;
        assertThat(transactions.tryStart()).isFalse();

        assertThat(producers.get(0).closed()).isTrue();
        assertThat(producer().id()).isEqualTo("mirror-1-1");
        assertThat(transactions.tryStart()).isTrue();
    }

    @Test
    void shouldCommitPositionsWithTheRecordsAndOpenTheNextTransaction() {
        start();

        assertThat(tryCommit()).isTrue();

        assertThat(committed).isEqualTo(POSITIONS);
        assertThat(producer().transactionInFlight()).isTrue();
        assertThat(transactions.stalledNanos(0)).isZero();
    }

    @Test
    void shouldCommitNothingWhenNothingIsNew() {
        start();

        assertThat(transactions.tryCommit(Map::of, () -> true, GROUP)).isTrue();

        assertThat(producer().commitCount()).isZero();
        enterAndExit(); // the gate is open
    }

    @Test
    void shouldNotAskForPositionsWhileAWorkerWrites() throws Exception {
        start();
        Worker worker = new Worker();
        worker.enter();

        assertThat(tryCommit()).isFalse();
        assertThat(asked).isZero();
        worker.exit();

        assertThat(tryCommit()).isTrue();
        assertThat(asked).isOne();
    }

    @Test
    void shouldAddNoPositionsBeforeAllRecordsAreAnswered() {
        start();
        boolean[] areAnswered = {false};

        assertThat(transactions.tryCommit(this::askPositions, () -> areAnswered[0], GROUP))
                .isFalse();
        assertThat(producer().sentOffsets()).isFalse();
        areAnswered[0] = true;

        assertThat(transactions.tryCommit(this::askPositions, () -> areAnswered[0], GROUP))
                .isTrue();
        assertThat(asked).isOne();
        assertThat(committed).isEqualTo(POSITIONS);
    }

    @Test
    void shouldTellHowLongTheTargetHasTakenNothing() {
        start();
        now += 7;
        assertThat(transactions.stalledNanos(10)).as("no transaction ends").isZero();
        transactions.tryCommit(this::askPositions, () -> false, GROUP);
        transactions.stalledNanos(10);

        now += 5;
        assertThat(transactions.stalledNanos(10)).isEqualTo(5);
        now += 5;
        assertThat(transactions.stalledNanos(11)).as("it has taken something").isZero();
        now += 3;
        assertThat(transactions.stalledNanos(11)).isEqualTo(3);
    }

    @Test
    void shouldKeepWorkersOutUntilATransactionThatIsSlowToEndIsCommitted() throws Exception {
        start();
        producer().commitTransactionException = new TimeoutException("slow");
        assertThat(tryCommit()).isFalse();
        Worker worker = new Worker();
        worker.startToEnter();
        worker.awaitBlocked();

        producer().commitTransactionException = null;
        assertThat(tryCommit()).isTrue();

        worker.awaitEntered();
        worker.exit();
        assertThat(asked).as("the same positions").isOne();
        assertThat(producer().consumerGroupOffsetsHistory()).hasSize(1);
        assertThat(committed).isEqualTo(POSITIONS);
    }

    @Test
    void shouldAddPositionsWithTheGroupAsItIsByThenWhenTheFirstAttemptTimesOut() {
        start();
        producer().sendOffsetsToTransactionException = new TimeoutException("slow");
        assertThat(tryCommit()).isFalse();
        producer().sendOffsetsToTransactionException = null;
        ConsumerGroupMetadata renamed = group("by-then");

        assertThat(transactions.tryCommit(this::askPositions, () -> true, renamed))
                .isTrue();

        assertThat(producer().consumerGroupOffsetsHistory())
                .singleElement()
                .satisfies(sent -> assertThat(sent).containsOnlyKeys("by-then"));
        assertThat(asked).isOne();
    }

    @Test
    void shouldGoOnWithAnotherProducerOfTheSameIdWhenItIsFenced() {
        start();
        producer().fenceProducer();
        assertThatThrownBy(this::tryCommit).isInstanceOf(ProducerFencedException.class);

        transactions.startOver();

        assertThat(producers).hasSize(2);
        assertThat(producers.get(0).closed()).isTrue();
        assertThat(producer().id()).isEqualTo("mirror-1");
        assertThat(transactions.isStarted()).isFalse();
        assertThat(committed).isEmpty();
        start();
        assertThat(tryCommit()).isTrue();
        assertThat(committed).isEqualTo(POSITIONS);
    }

    @Test
    void shouldCommitNothingWhenTheGroupHasGoneOnWithoutTheMember() {
        start();
        producer().sendOffsetsToTransactionException = new CommitFailedException("another generation");

        assertThatThrownBy(this::tryCommit).isInstanceOf(CommitFailedException.class);

        assertThat(producer().commitCount()).isZero();
        transactions.startOver();
        start();
        enterAndExit();
    }

    @Test
    void shouldNotCommitAfterAWorkerHasSeenThatTheTransactionIsOver() {
        start();
        InvalidProducerEpochException over = new InvalidProducerEpochException("aborted by the coordinator");
        CopyTarget.OpenTarget opened = transactions.openOrNull(TP);
        partition.beforeWrite(() -> {
            throw over;
        });

        assertThatThrownBy(() -> opened.raw().pass(batch())).isInstanceOf(GivenUpException.class);
        assertThatThrownBy(this::tryCommit).isSameAs(over);
        transactions.startOver();
        start();

        assertThat(tryCommit()).isTrue();
        assertThat(producers.get(0).commitCount()).isZero();
    }

    @Test
    void shouldPassOnThatTheTargetRefusesABatch() {
        start();
        CopyTarget.OpenTarget opened = transactions.openOrNull(TP);
        partition.beforeWrite(() -> {
            throw new RecordTooLargeException("too large");
        });

        assertThatThrownBy(() -> opened.raw().pass(batch())).isInstanceOf(RecordTooLargeException.class);
    }

    @Test
    void shouldOpenNoPartitionOfAProducerThatWasReplacedMeanwhile() {
        beforeOpen = () -> {
            transactions.startOver();
            throw new KafkaException("the producer is closed");
        };

        assertThat(transactions.openOrNull(TP)).isNull();
    }

    @Test
    void shouldSayWhyAPartitionCannotBeOpened() {
        KafkaException cause = new KafkaException("not allowed");
        beforeOpen = () -> {
            throw cause;
        };

        assertThatThrownBy(() -> transactions.openOrNull(TP)).isSameAs(cause);
    }

    @Test
    void shouldLetWorkersGoAtTheEndWhenATransactionHasNotEnded() throws Exception {
        start();
        producer().commitTransactionException = new TimeoutException("slow");
        assertThat(tryCommit()).isFalse();
        Worker worker = new Worker();
        worker.startToEnter();
        worker.awaitBlocked();

        transactions.end();

        worker.awaitEntered();
        worker.exit();
    }

    @SuppressWarnings("removal") // there is no other way to make one
    private static ConsumerGroupMetadata group(String id) {
        return new ConsumerGroupMetadata(id);
    }

    private TransactionalProducer createProducer(String id) {
        producers.add(new TransactionalProducer(id, committed));
        return producer();
    }

    private CopyTarget createTarget(Producer<byte[], byte[]> unused) {
        return opened -> {
            beforeOpen.run();
            return new CopyTarget.OpenTarget(
                    partition, new OpenDecision(PassMode.BATCHES, new TargetLimits(TargetLimits.ANY_CODEC, 1 << 20)));
        };
    }

    /** The one in use. */
    private TransactionalProducer producer() {
        return producers.get(producers.size() - 1);
    }

    private void start() {
        assertThat(transactions.tryStart()).isTrue();
    }

    private boolean tryCommit() {
        Supplier<Map<TopicPartition, OffsetAndMetadata>> positions = this::askPositions;
        return transactions.tryCommit(positions, () -> true, GROUP);
    }

    private Map<TopicPartition, OffsetAndMetadata> askPositions() {
        asked++;
        return POSITIONS;
    }

    private void enterAndExit() {
        transactions.enter();
        transactions.exit();
    }

    private static ByteBuffer batch() {
        return new BatchMaker(0).records(1).make();
    }

    /** A thread that enters, stays, and leaves when it is told to. */
    private final class Worker {
        private final Thread thread = new Thread(this::run);
        private volatile boolean entered;
        private volatile boolean leaves;

        private void run() {
            transactions.enter();
            entered = true;
            while (!leaves) {
                Thread.onSpinWait();
            }
            transactions.exit();
        }

        void startToEnter() {
            thread.setDaemon(true);
            thread.start();
        }

        void enter() {
            startToEnter();
            awaitEntered();
        }

        void awaitEntered() {
            while (!entered) {
                Thread.onSpinWait();
            }
        }

        void awaitBlocked() {
            while (thread.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            assertThat(entered).isFalse();
        }

        void exit() throws InterruptedException {
            leaves = true;
            thread.join();
        }
    }
}
