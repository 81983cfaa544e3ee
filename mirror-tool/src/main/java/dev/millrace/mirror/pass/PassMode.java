package dev.millrace.mirror.pass;

/** What the user asked for. */
public enum PassMode {
    /** Pass large batches, merge small ones. */
    AUTO,
    /** Open all batches. */
    RECORDS,
    /** Pass all batches that can be passed, however small. */
    BATCHES
}
