package dev.millrace.mirror.fetch;

import org.apache.kafka.common.IsolationLevel;

/** What a broker says about a partition's log; -1 where it does not say. */
public record FetchOffsets(long highWatermark, long lastStable, long logStart) {
    public static final FetchOffsets UNKNOWN = new FetchOffsets(-1, -1, -1);

    /** Returns the offset up to which records can be fetched: with {@code read_committed}, the last stable one. */
    long end(IsolationLevel isolation) {
        return isolation == IsolationLevel.READ_COMMITTED && lastStable >= 0 ? lastStable : highWatermark;
    }
}
