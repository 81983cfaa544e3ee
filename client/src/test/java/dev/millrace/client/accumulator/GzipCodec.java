package dev.millrace.client.accumulator;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/** Codec 1 of the record format, by the JDK's own classes. */
public final class GzipCodec implements BatchCodec {
    @Override
    public int id() {
        return 1;
    }

    @Override
    public int compress(byte[] batch, int from, int to) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
            zip.write(batch, from, to - from);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (out.size() >= to - from) {
            return NO_GAIN;
        }
        System.arraycopy(out.toByteArray(), 0, batch, from, out.size());
        return from + out.size();
    }

    @Override
    public byte[] decompress(byte[] batch, int from, int to) {
        try (GZIPInputStream zip = new GZIPInputStream(new ByteArrayInputStream(batch, from, to - from))) {
            return zip.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
