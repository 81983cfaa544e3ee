package dev.millrace.mirror.refused;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import dev.millrace.mirror.progress.SourcePositions;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;

class SearchProgressTest {
    private static final short EPOCH = 2;
    private static final int SIZE = 7;

    private final SearchProgress progress = new SearchProgress(
            new SourcePositions.Start(10, Optional.of(5), Uuid.ZERO_UUID, true),
            new ResumePoint(1, EPOCH, 100, 10, ResumePoint.UNKNOWN));

    @Test
    void shouldGiveNoSequenceToWhatIsLeftOut() {
        progress.moveOverWritten(List.of(record(10), record(11)), 72);
        progress.moveOverLeftOut(record(12));
        progress.moveOverWritten(List.of(record(13)), 73);
        progress.moveOverWritten(List.of(), ResumePoint.UNKNOWN);
        progress.moveTo(20);

        assertThat(progress.now())
                .isEqualTo(new SearchProgress.Snapshot(
                        new OffsetAndMetadata(20, Optional.empty(), ""),
                        new ResumePoint(1, EPOCH, 103, 20, 73),
                        3,
                        3L * SIZE));
    }

    @Test
    void shouldKeepTheLeaderEpochWhereNothingIsRead() {
        progress.moveTo(20);

        assertThat(progress.now().position()).isEqualTo(new OffsetAndMetadata(20, Optional.of(5), ""));
    }

    @Test
    void shouldWantTheCommitOfWhatIsReachedUntilItIsDone() {
        progress.moveTo(20);

        progress.awaitCommit(() -> {
            assertThat(progress.commitOrNull().progress()).isEqualTo(progress.now());
            progress.commitOrNull().done().complete(null);
        });

        assertThat(progress.commitOrNull()).isNull();
    }

    private static ConsumerRecord<byte[], byte[]> record(long offset) {
        return new ConsumerRecord<>(
                "orders",
                0,
                offset,
                0,
                TimestampType.CREATE_TIME,
                -1,
                SIZE,
                null,
                new byte[SIZE],
                new RecordHeaders(),
                Optional.empty());
    }
}
