package dev.millrace.client.accumulator;

/**
 * Compresses the records of a finished batch.
 *
 * <p><b>Threads:</b> any, concurrently: every thread that finishes a batch.
 */
public interface BatchCodec {
    /** Leaves the records uncompressed. */
    BatchCodec NONE = new BatchCodec() {
        @Override
        public int id() {
            return 0;
        }

        @Override
        public int compress(byte[] batch, int from, int to) {
            return NO_GAIN;
        }

        @Override
        public byte[] decompress(byte[] batch, int from, int to) {
            throw new UnsupportedOperationException("Nothing is compressed with codec \"none\"");
        }
    };

    /** The value that {@link #compress} returns when the compressed form would not be smaller. */
    int NO_GAIN = -1;

    /** Returns the codec's number in the attributes of a batch. */
    int id();

    /**
     * Replaces {@code batch[from, to)} with its compressed form, starting at {@code from}.
     *
     * @return the new end, or {@link #NO_GAIN} with the batch unchanged
     */
    int compress(byte[] batch, int from, int to);

    /** Returns the bytes that {@link #compress} turned into {@code batch[from, to)}. */
    byte[] decompress(byte[] batch, int from, int to);
}
