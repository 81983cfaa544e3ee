package dev.millrace.chaos;

import dev.millrace.testkit.oracle.SendLedger;
import java.io.PrintStream;
import java.util.Locale;

/**
 * Tells of each fault, on the clock of the ledger, and counts them.
 *
 * <p><b>Threads:</b> any.
 */
final class FaultLog {
    private final SendLedger ledger;
    private final PrintStream out;
    private int faults;

    FaultLog(SendLedger ledger, PrintStream out) {
        this.ledger = ledger;
        this.out = out;
    }

    /** A fault begins. */
    synchronized void fault(String what, Object... arguments) {
        faults++;
        tell(what, arguments);
    }

    /** Anything else, such as the end of a fault. */
    synchronized void tell(String what, Object... arguments) {
        out.printf(Locale.ROOT, "%,8d ms  %s%n", ledger.nowMs(), String.format(Locale.ROOT, what, arguments));
    }

    synchronized int faults() {
        return faults;
    }
}
