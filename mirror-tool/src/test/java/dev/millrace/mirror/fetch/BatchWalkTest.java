package dev.millrace.mirror.fetch;

import static dev.millrace.mirror.fetch.TestBatches.batch;
import static dev.millrace.mirror.fetch.TestBatches.join;
import static dev.millrace.mirror.fetch.TestBatches.oldMessage;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.junit.jupiter.api.Test;

class BatchWalkTest {
    private final BatchWalk walk = new BatchWalk();

    @Test
    void shouldFindTheOffsetAfterTheLastBatchAndItsLeaderEpoch() {
        ByteBuffer bytes = join(batch(100, 10, 3, 80), batch(120, 5, 4, 90));

        walk.walk(bytes);

        assertThat(walk.wholeBytes()).isEqualTo(170);
        assertThat(walk.nextOffset()).isEqualTo(125);
        assertThat(walk.leaderEpoch()).isEqualTo(4);
        assertThat(walk.records()).isEqualTo(15);
        assertThat(bytes.position()).isZero();
    }

    @Test
    void shouldLeaveOutABatchThatIsCutAtAnyByte() {
        ByteBuffer whole = join(batch(100, 10, 3, 80), batch(110, 5, 4, 90));
        for (int size = 80; size < 170; size++) {
            walk.walk(whole.slice(0, size));
            assertThat(walk.wholeBytes()).as("%d bytes", size).isEqualTo(80);
            assertThat(walk.nextOffset()).as("%d bytes", size).isEqualTo(110);
        }
        for (int size = 0; size < 80; size++) {
            walk.walk(whole.slice(0, size));
            assertThat(walk.wholeBytes()).as("%d bytes", size).isZero();
        }
    }

    @Test
    void shouldTakeOldMessagesOfBothFormats() {
        walk.walk(join(oldMessage(7, 0, 30), oldMessage(9, 1, 40), oldMessage(10, 1, 40)));

        assertThat(walk.wholeBytes()).isEqualTo(110);
        assertThat(walk.nextOffset()).isEqualTo(11);
        assertThat(walk.leaderEpoch()).isEqualTo(-1);
        assertThat(walk.records()).isEqualTo(3);
    }

    @Test
    void shouldStartAtThePositionOfTheBuffer() {
        ByteBuffer bytes = join(batch(1, 1, 0, 70), batch(50, 2, 0, 70)).position(70);

        walk.walk(bytes);

        assertThat(walk.wholeBytes()).isEqualTo(70);
        assertThat(walk.nextOffset()).isEqualTo(52);
    }

    @Test
    void shouldRefuseWhatIsNoHeader() {
        ByteBuffer unknownFormat = batch(5, 1, 0, 70).put(16, (byte) 3);
        ByteBuffer negativeLength = batch(5, 1, 0, 70).putInt(8, -1);
        ByteBuffer shorterThanItsHeader = batch(5, 1, 0, 70).putInt(8, 20);

        for (ByteBuffer wrong : new ByteBuffer[] {unknownFormat, negativeLength, shorterThanItsHeader}) {
            assertThatThrownBy(() -> walk.walk(wrong))
                    .isInstanceOf(CorruptRecordException.class)
                    .hasMessageContaining("offset 5");
        }
    }
}
