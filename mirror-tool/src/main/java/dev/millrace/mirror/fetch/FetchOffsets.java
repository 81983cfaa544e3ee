package dev.millrace.mirror.fetch;

/** What a broker says about a partition's log; -1 where it does not say. */
public record FetchOffsets(long highWatermark, long lastStable, long logStart) {
    public static final FetchOffsets UNKNOWN = new FetchOffsets(-1, -1, -1);
}
