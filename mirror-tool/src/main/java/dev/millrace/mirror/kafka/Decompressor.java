package dev.millrace.mirror.kafka;

import dev.millrace.kafka.common.compress.Compression;
import dev.millrace.kafka.common.record.internal.CompressionType;
import dev.millrace.kafka.common.record.internal.RecordBatch;
import dev.millrace.kafka.common.utils.internals.BufferSupplier;
import java.io.InputStream;
import java.nio.ByteBuffer;

/**
 * Decompresses the records of batches in format v2, with reused buffers.
 *
 * <p><b>Threads:</b> one.
 */
public final class Decompressor {
    private final BufferSupplier buffers = BufferSupplier.create();
    private final Compression[] codecs = new Compression[CompressionType.values().length];

    /**
     * Returns the decompressed bytes. The buffers are free for the next batch when the stream is closed.
     *
     * @param codecId as in the batch's attributes, not 0
     * @throws RuntimeException if the codec is unknown, or the data does not begin as the codec requires
     */
    public InputStream decompress(int codecId, ByteBuffer compressed) {
        return codec(codecId).wrapForInput(compressed, RecordBatch.CURRENT_MAGIC_VALUE, buffers);
    }

    private Compression codec(int id) {
        CompressionType type = CompressionType.forId(id);
        if (codecs[id] == null) {
            codecs[id] = Compression.of(type).build();
        }
        return codecs[id];
    }
}
