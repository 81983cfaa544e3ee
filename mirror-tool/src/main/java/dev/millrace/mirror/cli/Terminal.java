package dev.millrace.mirror.cli;

import java.io.PrintStream;

/** The status line at the bottom of a terminal, which is overwritten in place. */
public final class Terminal {
    /** Clears the rest of the line, where an older, longer text may remain. */
    static final String CLEAR_REST = "\u001b[K";
    /** Cuts off what does not fit the current width: a wrapped line could not be rewritten. */
    private static final String WRAP_OFF = "\u001b[?7l";

    private static final String WRAP_ON = "\u001b[?7h";

    private Terminal() {}

    /** Whether standard error is a terminal. The launcher sets the property, because Java 17 cannot determine it. */
    public static boolean isTerminal() {
        return Boolean.getBoolean("mirror.terminal");
    }

    /** Rewrites the line and leaves the cursor at its start, so that a log line replaces it. */
    public static void rewrite(PrintStream out, String line) {
        out.print(WRAP_OFF + line + CLEAR_REST + WRAP_ON + "\r");
        out.flush();
    }
}
