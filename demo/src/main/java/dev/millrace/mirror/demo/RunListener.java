package dev.millrace.mirror.demo;

/**
 * Hears from a run while it works.
 *
 * <p><b>Threads:</b> the one that waits for the run.
 */
interface RunListener {
    /** So many records are mirrored. */
    void onProgress(long records);

    /** The measurement has begun. */
    void onMeasurementStarted();

    /**
     * The measurement has ended.
     *
     * @param records that were measured
     */
    void onMeasurementEnded(long records);
}
