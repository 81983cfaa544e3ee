package dev.millrace.weather;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogCutTest {
    @TempDir
    private Path folder;

    @Test
    void shouldLoseWholeBatchesOfTheLastSegmentOnly() throws Exception {
        write(0, 0, 2, 4);
        write(6, 6, 8, 10);

        LogCut cut = LogCut.draw(folder, new Random(3)).orElseThrow();
        cut.make();

        assertThat(cut.offset()).isIn(6L, 8L, 10L);
        assertThat(baseOffsets(0)).containsExactly(0L, 2L, 4L);
        assertThat(baseOffsets(6)).allMatch(offset -> offset < cut.offset()).hasSize((int) (cut.offset() - 6) / 2);
    }

    @Test
    void shouldLeaveTheFirstBatchOfALog() throws Exception {
        write(0, 0);

        assertThat(LogCut.draw(folder, new Random(3))).isEmpty();
    }

    /** Two records a batch. */
    private void write(long segment, long... batches) throws Exception {
        try (FileRecords records = FileRecords.open(file(segment).toFile())) {
            for (long offset : batches) {
                records.append(MemoryRecords.withRecords(
                        offset, Compression.NONE, new SimpleRecord(new byte[9]), new SimpleRecord(new byte[9])));
            }
        }
    }

    private List<Long> baseOffsets(long segment) throws Exception {
        List<Long> offsets = new ArrayList<>();
        try (FileRecords records = FileRecords.open(file(segment).toFile(), false)) {
            records.batches().forEach(batch -> offsets.add(batch.baseOffset()));
        }
        return offsets;
    }

    private Path file(long segment) throws Exception {
        return Files.createDirectories(folder).resolve("%020d.log".formatted(segment));
    }
}
