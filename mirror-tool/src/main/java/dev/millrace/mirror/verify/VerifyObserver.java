package dev.millrace.mirror.verify;

/** Sees the progress of a {@link Verification}, in the thread that runs it. */
public interface VerifyObserver {
    /**
     * Called about once a second.
     *
     * @param compared partitions that are done
     * @param records records read so far, from both clusters together
     */
    void onProgress(int compared, int partitions, long records);
}
