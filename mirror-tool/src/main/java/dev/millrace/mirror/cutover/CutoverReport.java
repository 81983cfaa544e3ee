package dev.millrace.mirror.cutover;

/** Shows what the steps of a {@link Cutover} find, in the thread that runs it. */
public interface CutoverReport {
    /** A step begins. */
    void onStep(int number, String name);

    /** A step has found something; a sentence without its full stop. */
    void tell(String finding);

    /** A step still waits, for this; called about once a second. */
    void onProgress(String what);

    /**
     * Asks before something is changed. May block.
     *
     * @param change what would be done; a sentence without its full stop
     * @return whether to do it
     */
    boolean mayChange(String change);
}
