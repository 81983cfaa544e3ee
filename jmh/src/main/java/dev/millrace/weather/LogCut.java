package dev.millrace.weather;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.kafka.common.record.internal.FileLogInputStream.FileChannelRecordBatch;
import org.apache.kafka.common.record.internal.FileRecords;

/**
 * A place between two batches of a broker's log, from which on a disk loses it.
 *
 * @param segment the file
 * @param bytes that are left of it
 * @param offset of the first record that is lost
 */
record LogCut(Path segment, long bytes, long offset) {

    /**
     * Chooses a place in the last segment; none if that has no batch, or only the first one of the log.
     *
     * @param folder of the partition
     */
    static Optional<LogCut> draw(Path folder, Random random) {
        try {
            Path last = lastSegment(folder);
            List<LogCut> possible = new ArrayList<>();
            try (FileRecords records = FileRecords.open(last.toFile(), false)) {
                for (FileChannelRecordBatch batch : records.batches()) {
                    if (batch.baseOffset() > 0) {
                        possible.add(new LogCut(last, batch.position(), batch.baseOffset()));
                    }
                }
            }
            return possible.isEmpty() ? Optional.empty() : Optional.of(Chance.any(possible, random));
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read the log in " + folder, e);
        }
    }

    /** Its name is its first offset, with all digits. */
    private static Path lastSegment(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".log"))
                    .max(Comparator.naturalOrder())
                    .orElseThrow();
        }
    }

    /** Removes what comes after it. The broker must not run, and must not have been stopped cleanly. */
    void make() {
        try (RandomAccessFile file = new RandomAccessFile(segment.toFile(), "rw")) {
            file.setLength(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot cut " + segment, e);
        }
    }
}
