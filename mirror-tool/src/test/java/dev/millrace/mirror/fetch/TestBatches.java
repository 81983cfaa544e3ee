package dev.millrace.mirror.fetch;

import java.nio.ByteBuffer;

/** Batches with a header that is right where the fetcher looks, and nothing else. */
final class TestBatches {
    static final int HEADER = 61;
    static final int LEADER_EPOCH_AT = 12;
    private static final int OVERHEAD = 12;

    private TestBatches() {}

    /** A batch in format 2 of {@code count} records and {@code size} bytes in all. */
    static ByteBuffer batch(long baseOffset, int count, int leaderEpoch, int size) {
        ByteBuffer batch = ByteBuffer.allocate(size);
        batch.putLong(0, baseOffset)
                .putInt(8, size - OVERHEAD)
                .putInt(LEADER_EPOCH_AT, leaderEpoch)
                .put(16, (byte) 2)
                .putInt(23, count - 1)
                .putInt(57, count);
        return batch;
    }

    /** A message in format 0 or 1. */
    static ByteBuffer oldMessage(long offset, int magic, int size) {
        ByteBuffer message = ByteBuffer.allocate(size);
        message.putLong(0, offset).putInt(8, size - OVERHEAD).put(16, (byte) magic);
        return message;
    }

    static ByteBuffer join(ByteBuffer... parts) {
        int size = 0;
        for (ByteBuffer part : parts) {
            size += part.remaining();
        }
        ByteBuffer all = ByteBuffer.allocate(size);
        for (ByteBuffer part : parts) {
            all.put(part.duplicate());
        }
        return all.flip();
    }
}
