package dev.millrace.race;

/** A part of a run, for those who watch it. Called by one thread. */
public interface Span {
    Span UNWATCHED = new Span() {
        @Override
        public void begin() {}

        @Override
        public void end() {}
    };

    /** The threads that send are about to be made, and then to start all at once. */
    void begin();

    /** Everything sent is acknowledged. */
    void end();
}
