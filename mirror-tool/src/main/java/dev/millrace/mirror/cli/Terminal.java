package dev.millrace.mirror.cli;

import java.io.PrintStream;

/** The line at the bottom of a terminal that is rewritten. */
public final class Terminal {
    /** Clears the rest of the line, so that what is written at its start stands alone. */
    static final String CLEAR_REST = "\u001b[K";
    /** What does not fit into the width, whatever that is by now, is cut off: a wrapped line could not be rewritten. */
    private static final String WRAP_OFF = "\u001b[?7l";

    private static final String WRAP_ON = "\u001b[?7h";

    private Terminal() {}

    /** Whether standard error is a terminal; the launcher tells, for Java 17 itself cannot. */
    public static boolean isTerminal() {
        return Boolean.getBoolean("mirror.terminal");
    }

    /** Rewrites the line, and leaves the cursor at its start, so that a log line takes its place. */
    public static void rewrite(PrintStream out, String line) {
        out.print(WRAP_OFF + line + CLEAR_REST + WRAP_ON + "\r");
        out.flush();
    }
}
