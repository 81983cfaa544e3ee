package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TransactionAbortableException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.junit.jupiter.api.Test;

class TransactionStateTest {
    private int wakes;
    private final TransactionState state = new TransactionState("id", () -> wakes++);

    @Test
    void shouldGoThroughATransactionWhenNothingFails() {
        TransactionCall init = state.initTransactions();
        state.onInitialized();
        init.await(0);
        state.beginTransaction();
        state.enterSend();
        state.exitSend();
        TransactionCall commit = state.commitTransaction();

        assertThat(state.view().phase()).isEqualTo(TransactionPhase.COMMITTING);
        assertThat(wakes).isPositive();
        state.onEnded();

        assertThatCode(() -> commit.await(0)).doesNotThrowAnyException();
        state.beginTransaction();
        assertThat(state.view().number()).isEqualTo(2);
    }

    @Test
    void shouldReturnTheSameCallUntilItsOutcomeIsTold() {
        open();
        TransactionCall commit = state.commitTransaction();
        assertThatThrownBy(() -> commit.await(0)).isInstanceOf(TimeoutException.class);

        assertThat(state.commitTransaction()).isSameAs(commit);
        assertThatThrownBy(state::abortTransaction).isInstanceOf(IllegalStateException.class);
        state.onEnded();
        assertThatThrownBy(state::beginTransaction).isInstanceOf(IllegalStateException.class);
        assertThat(state.commitTransaction()).isSameAs(commit);

        commit.await(0);
        assertThatThrownBy(state::commitTransaction).isInstanceOf(IllegalStateException.class);
        state.beginTransaction();
    }

    @Test
    void shouldKeepTheFlagAndTheCallWhenInterrupted() {
        TransactionCall init = state.initTransactions();
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> init.await(10_000)).isInstanceOf(InterruptException.class);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(state.initTransactions()).isSameAs(init);
    }

    @Test
    void shouldLetInitializingBeTriedAgainWhenItWasRefused() {
        TransactionCall refused = state.initTransactions();
        state.onInitRefused(new TransactionalIdAuthorizationException("no"));

        assertThatThrownBy(() -> refused.await(0)).isInstanceOf(TransactionalIdAuthorizationException.class);
        assertThat(state.initTransactions()).isNotSameAs(refused);
    }

    @Test
    void shouldOnlyAllowAnAbortWhenARecordFailed() {
        open();
        state.onRecordFailed(new RecordTooLargeException("first"));
        state.onRecordFailed(new RecordTooLargeException("second"));

        assertThatThrownBy(state::enterSend)
                .isExactlyInstanceOf(KafkaException.class)
                .cause()
                .hasMessage("first");
        assertThatThrownBy(state::commitTransaction).isExactlyInstanceOf(KafkaException.class);
        assertThatThrownBy(state::beginTransaction).isExactlyInstanceOf(KafkaException.class);
        TransactionCall abort = state.abortTransaction();
        state.onRecordFailed(new RecordTooLargeException("while aborting"));
        state.onEnded();
        abort.await(0);
        state.beginTransaction();
    }

    @Test
    void shouldNotTellTheApplicationToTryAgainWhenARecordTimedOut() {
        open();
        TransactionCall commit = state.commitTransaction();
        state.onRecordFailed(new TimeoutException("expired"));

        assertThatThrownBy(() -> commit.await(0))
                .isInstanceOf(TransactionAbortableException.class)
                .hasCauseInstanceOf(TimeoutException.class);
        state.abortTransaction();
    }

    @Test
    void shouldAllowNothingWhenFenced() {
        open();
        TransactionCall commit = state.commitTransaction();
        state.failFatally(new ProducerFencedException("other"));

        assertThatThrownBy(() -> commit.await(0)).isInstanceOf(ProducerFencedException.class);
        assertThatThrownBy(state::abortTransaction).isInstanceOf(ProducerFencedException.class);
        assertThatThrownBy(state::enterSend).isInstanceOf(ProducerFencedException.class);
        assertThatThrownBy(state::initTransactions).isInstanceOf(ProducerFencedException.class);
        state.onRecordFailed(new RecordTooLargeException("late"));
        assertThat(state.view().phase()).isEqualTo(TransactionPhase.FATAL_ERROR);
    }

    @Test
    void shouldAbortWhenTheEpochIsOld() {
        open();
        state.onRecordFailed(new InvalidProducerEpochException("old"));

        assertThatThrownBy(state::commitTransaction).isInstanceOf(InvalidProducerEpochException.class);
        state.abortTransaction();
    }

    @Test
    void shouldTellWhetherAllSendsAreThrough() {
        open();
        state.enterSend();
        state.commitTransaction();

        assertThat(state.hasAllSends()).isFalse();
        assertThatThrownBy(state::enterSend).isInstanceOf(IllegalStateException.class);
        wakes = 0;
        state.exitSend();
        assertThat(state.hasAllSends()).isTrue();
        assertThat(wakes).isEqualTo(1);
    }

    @Test
    void shouldNotWaitForSendsThatCanAddNothingMore() {
        open();
        state.enterSend();
        state.close();

        assertThat(state.hasAllSends()).isFalse();
        state.closeToRecords();
        assertThat(state.hasAllSends()).isTrue();
    }

    @Test
    void shouldNotFailACommitThatDoesNotWaitForARefusedSend() {
        open();
        state.enterSend();
        TransactionCall commit = state.commitTransaction();
        state.close();
        state.closeToRecords();

        state.onSendRefused(new RecordTooLargeException());
        state.onEnded();

        commit.await(0); // does not throw
        assertThat(state.view().phase()).isEqualTo(TransactionPhase.READY);
    }

    @Test
    void shouldFailACommitThatWaitsForARefusedSend() {
        open();
        state.enterSend();
        state.commitTransaction();
        state.close();

        state.onSendRefused(new RecordTooLargeException());

        assertThat(state.view().phase()).isEqualTo(TransactionPhase.ABORTABLE_ERROR);
    }

    @Test
    void shouldAbortTheOpenTransactionWhenClosed() {
        open();
        state.close();

        assertThatThrownBy(state::enterSend).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> state.sendOffsetsToTransaction(Map.of(), group()))
                .isInstanceOf(IllegalStateException.class);
        state.abortOnClose();
        assertThat(state.view().phase()).isEqualTo(TransactionPhase.ABORTING);
        state.onEnded();
        assertThatThrownBy(state::beginTransaction).isInstanceOf(IllegalStateException.class);
    }

    private void open() {
        TransactionCall init = state.initTransactions();
        state.onInitialized();
        init.await(0);
        state.beginTransaction();
    }

    @SuppressWarnings("removal") // there is no other way without a consumer in a group
    private static ConsumerGroupMetadata group() {
        return new ConsumerGroupMetadata("group");
    }
}
