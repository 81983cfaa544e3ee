package dev.millrace.mirror.verify;

/** How records of the target differ from those of the source. */
public enum Fault {
    /** Of the source, and not on the target. */
    MISSING("missing"),
    /** Of the target, and not on the source. */
    EXTRA("extra"),
    /** A further copy of a record. */
    DOUBLED("doubled"),
    /** A copy, at another place among the copies. */
    OUT_OF_ORDER("out of order"),
    /** At the place of a record of the source, with another content. */
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
