package dev.millrace.mirror.fetch;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.TopicPartition;

/**
 * Whole record batches of one partition, of any message format, as the broker sent them. The first may begin before
 * {@link #fetchOffset}. Checksums are not checked.
 *
 * <p><b>Threads:</b> one at a time; any thread may call {@link #release}.
 */
public final class FetchedBatches {
    private final FetchPartition partition;
    private final ByteBuffer bytes;
    private final long fetchOffset;
    private final FetchOffsets offsets;
    private final List<AbortedTxn> aborted;
    private final FetchMemory.Response response;
    /** The limited memory; null unless the partition is limited. */
    private final AheadMemory ahead;

    private final int size;
    private final AtomicBoolean released = new AtomicBoolean();

    FetchedBatches(
            FetchPartition partition,
            ByteBuffer bytes,
            long fetchOffset,
            FetchOffsets offsets,
            List<AbortedTxn> aborted,
            FetchMemory.Response response,
            AheadMemory aheadOrNull) {
        this.partition = partition;
        this.bytes = bytes;
        this.fetchOffset = fetchOffset;
        this.offsets = offsets;
        this.aborted = aborted;
        this.response = response;
        this.ahead = aheadOrNull;
        this.size = bytes.remaining();
    }

    public TopicPartition partition() {
        return partition.topicPartition();
    }

    /** Returns the same array-backed buffer at each call, from position 0; it must not be written to. */
    public ByteBuffer bytes() {
        return bytes;
    }

    /** Returns the number of bytes. */
    public int size() {
        return size;
    }

    /** Returns the requested offset; earlier records were not asked for. */
    public long fetchOffset() {
        return fetchOffset;
    }

    public long highWatermark() {
        return offsets.highWatermark();
    }

    /** Returns the last stable offset; -1 if the broker did not send it. */
    public long lastStableOffset() {
        return offsets.lastStable();
    }

    public long logStartOffset() {
        return offsets.logStart();
    }

    /** Returns aborted transactions; empty unless {@code isolation.level} is {@code read_committed}. */
    public List<AbortedTxn> aborted() {
        return aborted;
    }

    /** Releases the bytes, which must not be read afterwards. Later calls have no effect. */
    public void release() {
        if (released.compareAndSet(false, true)) {
            partition.onReleased(size); // first, because the fetch thread may wait for this room
            response.release(size);
            if (ahead != null) {
                ahead.onReleased(size);
            }
        }
    }
}
