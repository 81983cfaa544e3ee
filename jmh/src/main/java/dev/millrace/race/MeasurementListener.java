package dev.millrace.race;

/** A part of a run, for those who watch it. Called by one thread. */
public interface MeasurementListener {
    MeasurementListener NONE = new MeasurementListener() {
        @Override
        public void onBegin() {}

        @Override
        public void onEnd() {}
    };

    /** The threads that send are about to be made, and then to start all at once. */
    void onBegin();

    /** Everything sent is acknowledged. */
    void onEnd();
}
