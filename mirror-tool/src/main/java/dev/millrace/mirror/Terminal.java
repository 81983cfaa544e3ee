package dev.millrace.mirror;

import java.io.PrintStream;

/** The line at the bottom of a terminal that is rewritten. */
final class Terminal {
    private static final int WIDTH = 100;

    private Terminal() {}

    /** Whether standard error is a terminal; the launcher tells, for Java 17 itself cannot. */
    static boolean isTerminal() {
        return Boolean.getBoolean("mirror.terminal");
    }

    /** Rewrites the line, and leaves the cursor at its start, so that a log line takes its place. */
    static void rewrite(PrintStream out, String line) {
        out.printf("%-" + WIDTH + "s\r", line);
        out.flush();
    }
}
