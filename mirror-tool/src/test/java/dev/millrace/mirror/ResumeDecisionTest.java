package dev.millrace.mirror;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.CommitMetadata.ResumePoint;
import java.util.Optional;
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
        ResumeDecision decision = ResumeDecision.of(committed(epoch, sequence), Optional.of(state(targetEpoch, last)));

        assertThat(decision.isForgotten()).isFalse();
        if (expected.equals("UNKNOWN")) {
            assertThat(decision.isKnown()).isFalse();
            assertThat(decision.reason()).contains("producer id 77");
        } else {
            assertThat(decision.isKnown()).as(decision.reason()).isTrue();
            assertThat(decision.present()).isEqualTo(Long.parseLong(expected));
        }
    }

    @Test
    void shouldTakeAnUnknownProducerIdForOneThatHasWrittenNothingIfNothingWasCommittedWithIt() {
        ResumeDecision decision = ResumeDecision.of(committed(3, 0), Optional.empty());

        assertThat(decision.isKnown()).isTrue();
        assertThat(decision.present()).isZero();
    }

    @Test
    void shouldNotKnowWhatAProducerIdHasWrittenThatTheTargetHasForgotten() {
        ResumeDecision decision = ResumeDecision.of(committed(3, 100), Optional.empty());

        assertThat(decision.isKnown()).isFalse();
        assertThat(decision.isForgotten()).isTrue();
    }

    @Test
    void shouldCountSequencesAcrossTheWrap() {
        ResumePoint after = committed(3, Integer.MAX_VALUE - 1).after(5, 1_234);

        assertThat(after).isEqualTo(new ResumePoint(ID, (short) 3, 3, 1_234));
        assertThat(committed(3, 10).after(1L << 33, 0).nextSequence()).isEqualTo(10);
    }

    private static ResumePoint committed(int epoch, int sequence) {
        return new ResumePoint(ID, (short) epoch, sequence, 1_000);
    }

    private static ProducerState state(int epoch, int lastSequence) {
        return new ProducerState(ID, epoch, lastSequence, 0, OptionalInt.empty(), OptionalLong.empty());
    }
}
