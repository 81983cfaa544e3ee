package dev.millrace.weather;

/** Where the mirror begins at its first start. */
enum Start {
    /** With the first record of each partition. */
    FIRST_RECORD(""),
    /** At the end, by {@code auto.offset.reset}, before anything is written. */
    END_OF_EMPTY_TOPICS("from the end"),
    /** At the end, by {@code --start-at}, of topics that have records. */
    END("started at the end of what is there"),
    /** At a time, by {@code --start-at}, of which some partitions have records before and after it, and others not. */
    TIME("started at a time");

    private final String what;

    Start(String what) {
        this.what = what;
    }

    /** Whether records are there that the mirror is to leave out. */
    boolean leavesOut() {
        return this == END || this == TIME;
    }

    /** Returns it in words; empty if it is the first record. */
    String what() {
        return what;
    }
}
