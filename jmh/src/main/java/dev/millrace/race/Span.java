package dev.millrace.race;

/** A part of a run, for those who watch it. Called by one thread. */
public interface Span {
    Span UNWATCHED = new Span() {
        @Override
        public void begin() {}

        @Override
        public void end() {}
    };

    /** All threads are about to start sending. */
    void begin();

    /** Everything sent is acknowledged. */
    void end();
}
