package dev.millrace.mirror.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.kafka.common.protocol.Errors;
import dev.millrace.mirror.fetch.PartitionAnswer.Outcome;
import dev.millrace.mirror.fetch.Remedy;
import java.util.EnumSet;
import java.util.Set;
import org.apache.kafka.common.errors.RetriableException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class RemediesTest {
    @ParameterizedTest
    @CsvSource({
        "NONE, NONE",
        "OFFSET_OUT_OF_RANGE, RESET_OFFSET",
        "NOT_LEADER_OR_FOLLOWER, FIND_LEADER",
        "FENCED_LEADER_EPOCH, FIND_LEADER",
        "UNKNOWN_LEADER_EPOCH, ASK_AGAIN",
        "REPLICA_NOT_AVAILABLE, FIND_LEADER",
        "KAFKA_STORAGE_ERROR, FIND_LEADER",
        "OFFSET_NOT_AVAILABLE, FIND_LEADER",
        "LEADER_NOT_AVAILABLE, FIND_LEADER",
        "UNKNOWN_TOPIC_OR_PARTITION, TELL_AND_ASK_AGAIN",
        "UNKNOWN_TOPIC_ID, FIND_LEADER",
        "INCONSISTENT_TOPIC_ID, FIND_LEADER",
        "CORRUPT_MESSAGE, TELL_AND_ASK_AGAIN",
        "UNKNOWN_SERVER_ERROR, ASK_AGAIN",
        "TOPIC_AUTHORIZATION_FAILED, STOP",
        "UNSUPPORTED_COMPRESSION_TYPE, STOP"
    })
    void shouldHaveARemedyForEachErrorOfAFetch(Errors error, Remedy remedy) {
        assertThat(Remedies.of(error.code()).remedy()).isEqualTo(remedy);
    }

    @ParameterizedTest
    @EnumSource
    void shouldNameTheErrorWhateverItIs(Errors error) {
        Outcome outcome = Remedies.of(error.code());
        assertThat(outcome.error() == null).isEqualTo(error == Errors.NONE);
    }

    /** Otherwise the sink would take for stopped what goes on, or the other way round. */
    @Test
    void shouldTellOnlyOfRetriableErrorsThatItGoesOn() {
        Set<Errors> told = EnumSet.noneOf(Errors.class);
        for (Errors error : Errors.values()) {
            if (Remedies.of(error.code()).remedy() == Remedy.TELL_AND_ASK_AGAIN) {
                told.add(error);
            }
        }
        assertThat(told).isNotEmpty().allMatch(error -> error.exception() instanceof RetriableException);
    }

    @ParameterizedTest
    @EnumSource
    void shouldNotStopForAnErrorThatTheSinkTakesForPassing(Errors error) {
        Outcome outcome = Remedies.of(error.code());

        assertThat(outcome.remedy() == Remedy.STOP && outcome.error() instanceof RetriableException)
                .isFalse();
    }
}
