package dev.millrace.client.kafka;

import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.kafka.common.compress.Compression;
import dev.millrace.kafka.common.record.internal.CompressionType;
import dev.millrace.kafka.common.record.internal.RecordBatch;
import dev.millrace.kafka.common.utils.internals.BufferSupplier;
import dev.millrace.kafka.common.utils.internals.ByteBufferOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerConfig;

/**
 * Compresses with gzip, snappy, lz4 and zstd, with Kafka's framing, at the configured levels (KIP-390).
 *
 * <p><b>Threads:</b> any.
 */
final class CompressionCodec implements BatchCodec {
    private static final int MIN_OUTPUT_BYTES = 512;

    private final Compression compression;

    private CompressionCodec(Compression compression) {
        this.compression = compression;
    }

    /** Returns the codec of {@code compression.type}. */
    static BatchCodec of(ProducerConfig config) {
        return of(config, CompressionType.forName(config.getString(ProducerConfig.COMPRESSION_TYPE_CONFIG)));
    }

    /** Returns all codecs, in the order of their numbers. */
    static List<BatchCodec> all(ProducerConfig config) {
        List<BatchCodec> codecs = new ArrayList<>();
        for (int id = 0; id < CompressionType.values().length; id++) {
            codecs.add(of(config, CompressionType.forId(id)));
        }
        return codecs;
    }

    private static BatchCodec of(ProducerConfig config, CompressionType type) {
        return switch (type) {
            case NONE -> BatchCodec.NONE;
            case GZIP ->
                new CompressionCodec(Compression.gzip()
                        .level(config.getInt(ProducerConfig.COMPRESSION_GZIP_LEVEL_CONFIG))
                        .build());
            case LZ4 ->
                new CompressionCodec(Compression.lz4()
                        .level(config.getInt(ProducerConfig.COMPRESSION_LZ4_LEVEL_CONFIG))
                        .build());
            case ZSTD ->
                new CompressionCodec(Compression.zstd()
                        .level(config.getInt(ProducerConfig.COMPRESSION_ZSTD_LEVEL_CONFIG))
                        .build());
            default -> new CompressionCodec(Compression.of(type).build());
        };
    }

    @Override
    public int id() {
        return compression.type().id;
    }

    @Override
    public int compress(byte[] batch, int from, int to) {
        int length = to - from;
        ByteBufferOutputStream output = new ByteBufferOutputStream(Math.max(MIN_OUTPUT_BYTES, length / 2));
        try (OutputStream stream = compression.wrapForOutput(output, RecordBatch.CURRENT_MAGIC_VALUE)) {
            stream.write(batch, from, length);
        } catch (IOException e) {
            throw new UncheckedIOException("Compression with " + compression.type().name + " failed", e);
        }
        int compressedLength = output.position();
        if (compressedLength >= length) {
            return NO_GAIN;
        }
        output.buffer().flip();
        output.buffer().get(batch, from, compressedLength);
        return from + compressedLength;
    }

    @Override
    public byte[] decompress(byte[] batch, int from, int to) {
        ByteBuffer compressed = ByteBuffer.wrap(batch, from, to - from);
        try (InputStream stream =
                compression.wrapForInput(compressed, RecordBatch.CURRENT_MAGIC_VALUE, BufferSupplier.NO_CACHING)) {
            return stream.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException("Decompression with " + compression.type().name + " failed", e);
        }
    }
}
