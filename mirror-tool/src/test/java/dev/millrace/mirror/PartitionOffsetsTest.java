package dev.millrace.mirror;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.offsets.OffsetRuns;
import dev.millrace.mirror.offsets.Translation;
import dev.millrace.mirror.pass.AckedRuns;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

class PartitionOffsetsTest {
    private final PartitionOffsets offsets = new PartitionOffsets(Uuid.ONE_UUID, 0);

    @Test
    void shouldShowOnlyWhatIsBeforeTheCommittedPosition() {
        AckedRuns session = load(0);
        session.onAcknowledged(0, 50, 100);

        offsets.onCommitted(40);

        assertThat(offsets.committedRuns().translate(40)).isEqualTo(new Translation(90, 0));
        assertThat(offsets.committedRuns().translate(60)).isEqualTo(new Translation(90, 20));
    }

    @Test
    void shouldForgetWhatWasNotCommittedWhenItIsCopiedAgain() {
        AckedRuns aborted = load(0);
        aborted.onAcknowledged(0, 0, 10);
        offsets.onCommitted(10);
        aborted.onAcknowledged(10, 10, 30);

        AckedRuns again = offsets.begin(10);
        aborted.onAcknowledged(40, 40, 5);
        again.onAcknowledged(10, 46, 30);
        offsets.onCommitted(40);

        assertThat(offsets.committedRuns()).hasToString("0=0 10=46 40>=76");
    }

    @Test
    void shouldAddToWhatFormerOwnersKnewAndSayThatItLacksWhatTheyDidNotWrite() {
        AckedRuns session = offsets.begin(100);
        session.onAcknowledged(100, 300, 50);
        offsets.onCommitted(150);
        OffsetRuns stored = new OffsetRuns();
        stored.append(0, 0, 80);
        assertThat(offsets.takeChanged()).isFalse();

        offsets.load(stored);

        assertThat(offsets.takeChanged()).isTrue();
        assertThat(offsets.takeChanged()).isFalse();
        assertThat(offsets.committedRuns().translate(79)).isEqualTo(new Translation(79, 0));
        assertThat(offsets.committedRuns().translate(90)).isEqualTo(new Translation(80, 10));
        assertThat(offsets.committedRuns().translate(120)).isEqualTo(new Translation(320, 0));
    }

    @Test
    void shouldNotTakeAPositionForKnownThatMovesWhileNothingIsTold() {
        load(0).onAcknowledged(0, 0, 10);
        offsets.onCommitted(10);

        offsets.end();
        offsets.onCommitted(30);

        assertThat(offsets.committedRuns().translate(30)).isEqualTo(new Translation(10, 20));
    }

    @Test
    void shouldWantToKnowWhereTheTargetEndsOnlyWhileNothingTells() {
        AckedRuns session = load(70);
        assertThat(offsets.positionWithoutAnchor()).isEqualTo(70);

        offsets.anchor(70, 500);

        assertThat(offsets.positionWithoutAnchor()).isEqualTo(-1);
        assertThat(offsets.committedRuns().translate(70)).isEqualTo(new Translation(500, 0));
        session.onAcknowledged(72, 500, 8);
        offsets.onCommitted(80);
        assertThat(offsets.committedRuns().translate(75)).isEqualTo(new Translation(503, 0));
    }

    private AckedRuns load(long position) {
        AckedRuns session = offsets.begin(position);
        offsets.load(new OffsetRuns());
        return session;
    }
}
