package dev.millrace.mirror.groups;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.offsets.OffsetRuns;
import dev.millrace.mirror.offsets.Translation;
import dev.millrace.mirror.pass.AckedRuns;
import dev.millrace.mirror.progress.CopiedOffsets;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

class PartitionOffsetsTest {
    private static final Uuid TARGET = new Uuid(2, 2);

    private final PartitionOffsets offsets = new PartitionOffsets(Uuid.ONE_UUID, 0);

    @Test
    void shouldShowOnlyWhatIsBeforeTheCommittedPosition() {
        AckedRuns session = load(0);
        session.onAcknowledged(0, 50, 100);

        offsets.onCommitted(40);

        assertThat(offsets.committedRuns().translate(40)).isEqualTo(new Translation(90, 0));
        assertThat(offsets.committedRuns().translate(60)).isEqualTo(new Translation(90, 20));

        offsets.onCommitted(100);
        assertThat(offsets.committedRuns()).hasToString("0=50 100>=150");
    }

    @Test
    void shouldNotShowWhatAMemberHasWrittenLateAfterTheNextOnesRecords() {
        AckedRuns away = load(0);
        away.onAcknowledged(0, 400, 100);
        offsets.onCommitted(100);

        away.onAcknowledged(100, 650, 100); // the next one has written 100 to 249 at 500 to 649 meanwhile

        assertThat(offsets.committedRuns().translate(100)).isEqualTo(new Translation(500, 0));
        assertThat(offsets.committedRuns().translate(150)).isEqualTo(new Translation(500, 50));
    }

    @Test
    void shouldNotTakeLateRecordsForThoseAfterAGapOfTheSameLength() {
        AckedRuns away = load(0);
        away.onAcknowledged(0, 0, 90);
        offsets.onCommitted(100); // the source has no record from 90 to 99

        away.onAcknowledged(100, 100, 5); // the next one has written 100 to 109 at 90 to 99 meanwhile

        assertThat(offsets.committedRuns().translate(100)).isEqualTo(new Translation(90, 0));
    }

    @Test
    void shouldNotTakeNewRecordsForThoseThatTheTargetHasLost() {
        AckedRuns session = load(0);
        session.onAcknowledged(0, 0, 100);
        offsets.onCommitted(100);

        session.onAcknowledged(100, 90, 20);

        assertThat(offsets.committedRuns().translate(80)).isEqualTo(new Translation(80, 0));
        assertThat(offsets.committedRuns().translate(95).target()).isEqualTo(90);
        offsets.onCommitted(120);
        assertThat(offsets.committedRuns().translate(95).target()).isEqualTo(90);
        assertThat(offsets.committedRuns().translate(110)).isEqualTo(new Translation(100, 0));
    }

    @Test
    void shouldForgetWhatItKnowsOfATargetThatWasCreatedAnew() {
        load(0).onAcknowledged(0, 0, 100);
        offsets.onCommitted(100);
        assertThat(offsets.forgetIfReplaced(TARGET)).isFalse();
        assertThat(offsets.forgetIfReplaced(Uuid.ZERO_UUID))
                .as("while there is none")
                .isFalse();

        assertThat(offsets.forgetIfReplaced(new Uuid(3, 3))).isTrue();

        assertThat(offsets.committedRuns().isBefore(99)).isTrue();
        assertThat(offsets.targetId()).isEqualTo(new Uuid(3, 3));
        assertThat(offsets.takeChanged()).isTrue();
    }

    @Test
    void shouldSayThatItLacksWhatWasCopiedUntoldBeforeItCouldLoad() {
        offsets.begin(CopiedOffsets.NONE, 100);
        offsets.end(CopiedOffsets.NONE);
        AckedRuns again =
                offsets.begin(CopiedOffsets.NONE, 170); // what is before was copied, but nothing was told of it
        OffsetRuns stored = new OffsetRuns();
        stored.append(0, 0, 100);

        offsets.load(stored, TARGET, 0, true);
        again.onAcknowledged(170, 190, 30);
        offsets.onCommitted(200);

        assertThat(offsets.committedRuns().translate(130)).isEqualTo(new Translation(100, 30));
        assertThat(offsets.committedRuns().translate(180)).isEqualTo(new Translation(200, 0));
    }

    @Test
    void shouldForgetWhatIsCopiedAgain() {
        AckedRuns session = load(0);
        session.onAcknowledged(0, 0, 100);
        offsets.onCommitted(100);

        session.onAcknowledged(60, 100, 10); // the source was truncated

        assertThat(offsets.committedRuns().translate(50)).isEqualTo(new Translation(50, 0));
        assertThat(offsets.committedRuns().translate(80)).isEqualTo(new Translation(60, 20));
        offsets.onCommitted(70);
        assertThat(offsets.committedRuns().translate(65)).isEqualTo(new Translation(105, 0));
    }

    @Test
    void shouldForgetWhatWasNotCommittedWhenItIsCopiedAgain() {
        AckedRuns aborted = load(0);
        aborted.onAcknowledged(0, 0, 10);
        offsets.onCommitted(10);
        aborted.onAcknowledged(10, 10, 30);

        AckedRuns again = offsets.begin(CopiedOffsets.NONE, 10);
        aborted.onAcknowledged(40, 40, 5);
        again.onAcknowledged(10, 46, 30);
        offsets.onCommitted(40);

        assertThat(offsets.committedRuns()).hasToString("0=0 10=46 40>=76");
    }

    @Test
    void shouldAddToWhatFormerOwnersKnewAndSayThatItLacksWhatTheyDidNotWrite() {
        AckedRuns session = offsets.begin(CopiedOffsets.NONE, 100);
        session.onAcknowledged(100, 300, 50);
        offsets.onCommitted(150);
        OffsetRuns stored = new OffsetRuns();
        stored.append(0, 0, 80);
        assertThat(offsets.takeChanged()).isFalse();

        offsets.load(stored, TARGET, 0, true);

        assertThat(offsets.takeChanged()).isTrue();
        assertThat(offsets.takeChanged()).isFalse();
        assertThat(offsets.committedRuns().translate(79)).isEqualTo(new Translation(79, 0));
        assertThat(offsets.committedRuns().translate(90)).isEqualTo(new Translation(80, 10));
        assertThat(offsets.committedRuns().translate(120)).isEqualTo(new Translation(320, 0));
    }

    @Test
    void shouldKeepTheMostOfWhatFormerOwnersHaveWritten() {
        offsets.begin(CopiedOffsets.NONE, 100);
        offsets.load(stored(80), TARGET, 0, false);
        assertThat(offsets.isComplete()).isFalse();

        offsets.load(stored(40), TARGET, 0, false);
        assertThat(offsets.committedRuns().translate(79)).isEqualTo(new Translation(79, 0));
        offsets.load(stored(100), TARGET, 0, false);

        assertThat(offsets.isComplete()).isTrue();
        assertThat(offsets.committedRuns().translate(99)).isEqualTo(new Translation(99, 0));
    }

    @Test
    void shouldForgetAllWhenTheTargetIsAnotherAtALaterLoad() {
        AckedRuns session = offsets.begin(CopiedOffsets.NONE, 100);
        offsets.load(stored(80), TARGET, 0, false);
        session.onAcknowledged(100, 3, 20);
        offsets.onCommitted(120);

        offsets.load(new OffsetRuns(), new Uuid(3, 3), 0, false);

        assertThat(offsets.targetId()).isEqualTo(new Uuid(3, 3));
        assertThat(offsets.committedRuns().isBefore(110)).isTrue();
    }

    private static OffsetRuns stored(int count) {
        OffsetRuns stored = new OffsetRuns();
        stored.append(0, 0, count);
        return stored;
    }

    @Test
    void shouldNotTakeAPositionForKnownThatMovesWhileNothingIsTold() {
        load(0).onAcknowledged(0, 0, 10);
        offsets.onCommitted(10);

        offsets.end(CopiedOffsets.NONE);
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
        AckedRuns session = offsets.begin(CopiedOffsets.NONE, position);
        offsets.load(new OffsetRuns(), TARGET, 0, true);
        return session;
    }
}
