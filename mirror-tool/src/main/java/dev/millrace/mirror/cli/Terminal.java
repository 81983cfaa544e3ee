package dev.millrace.mirror.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.util.Locale;

/** The terminal: its last line, which shows the status and is overwritten in place, and questions. */
public final class Terminal {
    /** Clears the rest of the line, where an older, longer text may remain. */
    static final String CLEAR_REST = "\u001b[K";
    /** Cuts off what does not fit the current width: a wrapped line could not be rewritten. */
    private static final String WRAP_OFF = "\u001b[?7l";

    private static final String WRAP_ON = "\u001b[?7h";

    private static final BufferedReader INPUT =
            new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));

    private Terminal() {}

    /** Whether standard error is a terminal. The launcher sets the property, because Java 17 cannot determine it. */
    public static boolean isTerminal() {
        return Boolean.getBoolean("mirror.terminal");
    }

    /** Whether standard input is a terminal, too, so that somebody can be asked. */
    static boolean canAsk() {
        return Boolean.getBoolean("mirror.terminal.input");
    }

    /** Returns whether the answer is yes. Blocks until there is one; the end of the input means no. */
    static boolean ask(String question) {
        System.err.print(question);
        System.err.flush();
        try {
            String answer = INPUT.readLine();
            return answer != null && answer.strip().toLowerCase(Locale.ROOT).matches("y|yes");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Rewrites the line and leaves the cursor at its start, so that a log line replaces it. */
    public static void rewrite(PrintStream out, String line) {
        out.print(WRAP_OFF + line + CLEAR_REST + WRAP_ON + "\r");
        out.flush();
    }
}
