package dev.millrace.mirror.verify;

/** How records of the target differ from those of the source. */
public enum Fault {
    /** A record of the source that is not on the target. */
    MISSING("missing"),
    /** A record of the target that is not on the source. */
    EXTRA("extra"),
    /** A further copy of a record. */
    DOUBLED("doubled"),
    /** A copy at a different place among the copies. */
    OUT_OF_ORDER("out of order"),
    /** A record at the place of a source record but with different content. */
    DIFFERENT("different");

    private final String words;

    Fault(String words) {
        this.words = words;
    }

    @Override
    public String toString() {
        return words;
    }
}
