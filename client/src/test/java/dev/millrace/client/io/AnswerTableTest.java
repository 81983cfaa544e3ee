package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.accumulator.Evidence;
import dev.millrace.client.io.AnswerTable.Action;
import dev.millrace.client.io.AnswerTable.Position;
import dev.millrace.client.io.AnswerTable.Refusal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class AnswerTableTest {
    @ParameterizedTest
    @CsvSource({
        "SEQUENCE,   UNWRITTEN, NEW_EPOCH,    SEND_AGAIN,   FAIL",
        "SEQUENCE,   UNKNOWN,   ASK,          SEND_AGAIN,   ASK",
        "TOO_LARGE,  UNWRITTEN, SPLIT,        SPLIT,        FAIL",
        "TOO_LARGE,  UNKNOWN,   SPLIT,        SPLIT,        SPLIT",
        "RETRIABLE,  UNWRITTEN, SEND_AGAIN,   SEND_AGAIN,   FAIL",
        "RETRIABLE,  UNKNOWN,   SEND_AGAIN,   SEND_AGAIN,   SEND_AGAIN",
        "OF_RECORDS, UNWRITTEN, FAIL_RECORDS, FAIL_RECORDS, FAIL_RECORDS",
        "OF_RECORDS, UNKNOWN,   FAIL_RECORDS, FAIL_RECORDS, FAIL_RECORDS",
        "FINAL,      UNWRITTEN, FAIL,         FAIL,         FAIL",
        "FINAL,      UNKNOWN,   FAIL,         FAIL,         FAIL"
    })
    void shouldDoWhatTheAnswersProve(
            Refusal refusal, Evidence evidence, Action first, Action afterUndecided, Action overtaken) {
        assertThat(AnswerTable.actionFor(refusal, evidence, Position.FIRST, true))
                .isEqualTo(first);
        assertThat(AnswerTable.actionFor(refusal, evidence, Position.AFTER_UNDECIDED, true))
                .isEqualTo(afterUndecided);
        assertThat(AnswerTable.actionFor(refusal, evidence, Position.OVERTAKEN, true))
                .isEqualTo(overtaken);
    }

    @Test
    void shouldFailWhereSequencesMustNotChange() {
        assertThat(AnswerTable.actionFor(Refusal.SEQUENCE, Evidence.UNWRITTEN, Position.FIRST, false))
                .isEqualTo(Action.FAIL);
        assertThat(AnswerTable.actionFor(Refusal.SEQUENCE, Evidence.UNKNOWN, Position.FIRST, false))
                .isEqualTo(Action.ASK);
    }

    @ParameterizedTest
    @EnumSource(names = {"NEVER_SENT", "ACKNOWLEDGED"})
    void shouldHaveNoActionForWhatIsNotRefused(Evidence evidence) {
        assertThatThrownBy(() -> AnswerTable.actionFor(Refusal.FINAL, evidence, Position.FIRST, true))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(evidence.name());
    }
}
