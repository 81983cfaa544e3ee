package dev.millrace.mirror.pass;

/** Receives what the target has acknowledged, some records of one partition at a time; must not block. */
@FunctionalInterface
public interface AckListener {
    /**
     * These records and all before them are on the target.
     *
     * @param bytes of these records as they were sent; 0 if they come with a later call
     * @param timestamp of the first of them or of its batch, in ms; negative if it is not known
     * @param ackedAtMs when they were acknowledged, in milliseconds of {@link System#currentTimeMillis}
     */
    void onAcked(long records, long bytes, long timestamp, long ackedAtMs);
}
