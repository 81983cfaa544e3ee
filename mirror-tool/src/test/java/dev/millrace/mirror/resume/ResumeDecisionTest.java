package dev.millrace.mirror.resume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.apache.kafka.clients.admin.ProducerState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ResumeDecisionTest {
    private static final long ID = 77;

    @ParameterizedTest(name = "committed epoch {0} sequence {1}, target epoch {2} sequence {3}: {4} present")
    @CsvSource({
        "3, 100, 3, 99, 0",
        "3, 100, 3, 100, 1",
        "3, 100, 3, 249, 150",
        "3, 0, 3, 0, 1",
        "3, 0, 3, -1, 0", // the epoch has begun, nothing is written
        "3, 0, 2, 500, 0", // committed before its first record was written
        "3, 2147483647, 3, 2147483646, 0",
        "3, 2147483647, 3, 4, 6", // wrapped
        "3, 0, 3, 2147483647, 0", // wrapped just now
        "3, 100, 3, 98, UNKNOWN", // acknowledged and gone
        "3, 100, 3, -1, UNKNOWN",
        "3, 2000000000, 3, -1, UNKNOWN",
        "3, 100, 2, 500, UNKNOWN",
        "3, 100, 4, 500, UNKNOWN", // another process has begun anew
        "3, 0, 4, -1, UNKNOWN",
    })
    void shouldCountWhatTheTargetHas(int epoch, int sequence, int targetEpoch, int last, String expected) {
        assertDecided(ResumeDecision.of(committed(epoch, sequence), state(targetEpoch, last)), expected);
    }

    /** Whatever the sequence is: with 0, a process may have written and been killed before its first commit. */
    @ParameterizedTest(name = "committed sequence {0}, target offset {1}, target ends at {2}: {3} present")
    @CsvSource({
        "0, 40, 40, 0",
        "0, 40, 43, 3",
        "100, 40, 40, 0",
        "100, 40, 190, 150",
        "100, 40, 39, UNKNOWN", // lost, or created anew
        "0, -1, 0, UNKNOWN", // the broker had not told it
        "100, -1, 40, UNKNOWN",
    })
    void shouldCountWhatIsAfterTheCommittedTargetOffsetWhenTheTargetHasForgottenTheProducerId(
            int sequence, long targetOffset, long end, String expected) {
        ResumePoint committed = new ResumePoint(ID, (short) 3, sequence, 1_000, targetOffset);

        assertDecided(ResumeDecision.ofForgotten(committed, end), expected);
    }

    private static void assertDecided(ResumeDecision decision, String expected) {
        if (expected.equals("UNKNOWN")) {
            assertThat(decision.isKnown()).isFalse();
            assertThat(decision.reason()).contains("producer id 77");
        } else {
            assertThat(decision.isKnown()).as(decision.reason()).isTrue();
            assertThat(decision.present()).isEqualTo(Long.parseLong(expected));
        }
    }

    @Test
    void shouldCountSequencesAcrossTheWrap() {
        ResumePoint after = committed(3, Integer.MAX_VALUE - 1).after(5, 1_234, 50);

        assertThat(after).isEqualTo(new ResumePoint(ID, (short) 3, 3, 1_234, 50));
        assertThat(committed(3, 10).after(1L << 33, 0, 0).nextSequence()).isEqualTo(10);
    }

    private static ResumePoint committed(int epoch, int sequence) {
        return new ResumePoint(ID, (short) epoch, sequence, 1_000, 40);
    }

    private static ProducerState state(int epoch, int lastSequence) {
        return new ProducerState(ID, epoch, lastSequence, 0, OptionalInt.empty(), OptionalLong.empty());
    }
}
