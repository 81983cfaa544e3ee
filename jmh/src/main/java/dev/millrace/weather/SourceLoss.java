package dev.millrace.weather;

/** What the source loses before the calm, though the mirror may not have copied it. */
enum SourceLoss {
    NOTHING(""),
    /** The first records of a topic, while every process of the mirror is paused. */
    FIRST_WHILE_PAUSED("the source deletes what a paused mirror has not copied"),
    /** The first records of a topic, while no process of the mirror runs. */
    FIRST_WHILE_STOPPED("the source deletes what a stopped mirror has not copied"),
    /**
     * The last records of a topic: its only broker crashes, or a broker is elected that never had them. Their offsets are given
     * to other records.
     */
    LAST_WHILE_RUNNING("the source loses ends of logs"),
    /** The same while no process of the mirror runs. */
    LAST_WHILE_STOPPED("the source loses ends of logs while the mirror is stopped");

    private final String what;

    SourceLoss(String what) {
        this.what = what;
    }

    /** Whether the last records are lost. */
    boolean isOfTheEnd() {
        return this == LAST_WHILE_RUNNING || this == LAST_WHILE_STOPPED;
    }

    /** Returns it in words; empty if nothing is lost. */
    String what() {
        return what;
    }
}
