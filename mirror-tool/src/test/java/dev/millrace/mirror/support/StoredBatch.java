package dev.millrace.mirror.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * A batch as a broker has it on its disk.
 *
 * @param from the offset of its first record
 * @param next that after its last one
 */
public record StoredBatch(int from, int next, byte[] bytes) {
    private static final int LENGTH_AT = 8;
    private static final int AFTER_LENGTH = 12;
    private static final int LAST_OFFSET_DELTA_AT = 23;

    /** Changes the last byte of the batch that has this offset, in the first segment of the topic's partition 0. */
    public static StoredBatch corrupt(Path data, String topic, int offset) {
        Path log = data.resolve(topic + "-0").resolve("00000000000000000000.log");
        try (FileChannel file = FileChannel.open(log, StandardOpenOption.WRITE)) {
            ByteBuffer all = ByteBuffer.wrap(Files.readAllBytes(log));
            int at = 0;
            while (next(all, at) <= offset) {
                at += size(all, at);
            }
            int last = at + size(all, at) - 1;
            all.put(last, (byte) ~all.get(last));
            file.write(ByteBuffer.wrap(new byte[] {all.get(last)}), last);
            return new StoredBatch(
                    (int) all.getLong(at), (int) next(all, at), Arrays.copyOfRange(all.array(), at, last + 1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int size(ByteBuffer all, int at) {
        return AFTER_LENGTH + all.getInt(at + LENGTH_AT);
    }

    private static long next(ByteBuffer all, int at) {
        return all.getLong(at) + all.getInt(at + LAST_OFFSET_DELTA_AT) + 1;
    }
}
