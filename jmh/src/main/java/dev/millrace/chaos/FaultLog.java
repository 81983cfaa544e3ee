package dev.millrace.chaos;

import java.io.PrintStream;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * Tells of each fault, on the clock of the ledger, and counts them.
 *
 * <p><b>Threads:</b> any.
 */
final class FaultLog {
    private final LongSupplier nowMs;
    private final PrintStream out;
    private int faults;

    /** @param nowMs the clock of the ledger */
    FaultLog(LongSupplier nowMs, PrintStream out) {
        this.nowMs = nowMs;
        this.out = out;
    }

    /** A fault begins. */
    synchronized void fault(String what, Object... arguments) {
        faults++;
        tell(what, arguments);
    }

    /** Anything else, such as the end of a fault. */
    synchronized void tell(String what, Object... arguments) {
        out.printf(Locale.ROOT, "%,8d ms  %s%n", nowMs.getAsLong(), String.format(Locale.ROOT, what, arguments));
    }

    synchronized int faults() {
        return faults;
    }
}
