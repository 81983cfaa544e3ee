package dev.millrace.race;

/** Learns when the measured part of a run begins and ends. Called by one thread. */
public interface MeasurementListener {
    MeasurementListener NONE = new MeasurementListener() {
        @Override
        public void onBegin() {}

        @Override
        public void onEnd() {}
    };

    /** The sending threads are created next; then all of them start at once. */
    void onBegin();

    /** All records that were sent are acknowledged. */
    void onEnd();
}
