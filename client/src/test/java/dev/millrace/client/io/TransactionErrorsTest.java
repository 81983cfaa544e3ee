package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.io.TransactionErrors.Remedy;
import dev.millrace.client.io.TransactionErrors.Request;
import java.util.List;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.ConcurrentTransactionsException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.NotCoordinatorException;
import org.apache.kafka.common.errors.OperationNotAttemptedException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownProducerIdException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.junit.jupiter.api.Test;

class TransactionErrorsTest {
    private final ApiException notYet = new UnknownTopicOrPartitionException("not yet");
    private final ApiException leftOut = new OperationNotAttemptedException("left out");
    private final ApiException invalid = new InvalidTopicException("invalid");
    private final ApiException fenced = new ProducerFencedException("fenced");
    private final ApiException moved = new NotCoordinatorException("moved");

    @Test
    void shouldRetryWhenPartitionsWereLeftOutForOneThatMayPass() {
        assertThat(decisive(leftOut, notYet, leftOut)).isSameAs(notYet);
        assertThat(decisive(notYet, moved)).isSameAs(moved);
        assertThat(remedy(Request.ADD_PARTITIONS, notYet)).isEqualTo(Remedy.RETRY);
    }

    @Test
    void shouldTellTheCauseWhenPartitionsWereLeftOutForOneThatNeverPasses() {
        assertThat(decisive(leftOut, invalid)).isSameAs(invalid);
        assertThat(decisive(leftOut)).isSameAs(leftOut);
        assertThat(decisive(notYet, fenced)).isSameAs(fenced);
        assertThat(remedy(Request.ADD_PARTITIONS, leftOut)).isEqualTo(Remedy.ABORT);
    }

    @Test
    void shouldTakeNothingForAddedWhenTheBrokerDidNotTry() {
        assertThat(TransactionErrors.isNothingAdded(List.of(notYet))).isTrue();
        assertThat(TransactionErrors.isNothingAdded(List.of(invalid, leftOut))).isTrue();
        assertThat(TransactionErrors.isNothingAdded(List.of(new ConcurrentTransactionsException("busy"))))
                .isTrue();
        assertThat(TransactionErrors.isNothingAdded(List.of(moved))).isFalse();
    }

    @Test
    void shouldGiveUpTheProducerWhenOffsetsAreRefusedUnexpectedly() {
        ApiException forbidden = new TopicAuthorizationException("topic");
        ApiException unknown = new UnknownProducerIdException("id");

        assertThat(remedy(Request.COMMIT_OFFSETS, forbidden)).isEqualTo(Remedy.CLOSE);
        assertThat(remedy(Request.COMMIT_OFFSETS, unknown)).isEqualTo(Remedy.CLOSE);
        assertThat(remedy(Request.ADD_PARTITIONS, forbidden)).isEqualTo(Remedy.ABORT);
        assertThat(remedy(Request.ADD_PARTITIONS, unknown)).isEqualTo(Remedy.ABORT);
    }

    private static ApiException decisive(ApiException... errors) {
        return TransactionErrors.decisiveForPartitions(List.of(errors));
    }

    private static Remedy remedy(Request request, ApiException error) {
        return TransactionErrors.of(request, error).remedy();
    }
}
