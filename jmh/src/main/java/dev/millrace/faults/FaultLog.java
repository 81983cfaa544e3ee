package dev.millrace.faults;

import java.io.PrintStream;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * Tells of each fault, on the clock of the run, and counts them by kind.
 *
 * <p><b>Threads:</b> any.
 */
public final class FaultLog {
    private final LongSupplier nowMs;
    private final PrintStream out;
    private final Map<String, Integer> kinds = new TreeMap<>();
    private int faults;

    /** @param nowMs the clock of the run */
    public FaultLog(LongSupplier nowMs, PrintStream out) {
        this.nowMs = nowMs;
        this.out = out;
    }

    /** A fault of this kind begins, at this broker, topic or other place. */
    public synchronized void fault(String place, String kind) {
        faults++;
        count(kind);
        tell("%s: %s", place, kind);
    }

    /** Something happens that is too frequent to be told. */
    public synchronized void count(String kind) {
        kinds.merge(kind, 1, Integer::sum);
    }

    /** Anything else, such as the end of a fault. */
    public synchronized void tell(String what, Object... arguments) {
        out.printf(Locale.ROOT, "%,8d ms  %s%n", nowMs(), String.format(Locale.ROOT, what, arguments));
    }

    /** On the clock of the run. */
    public long nowMs() {
        return nowMs.getAsLong();
    }

    /** How many there have been. */
    public synchronized int faults() {
        return faults;
    }

    /** How often each kind has happened. */
    public synchronized String kinds() {
        return kinds.entrySet().stream()
                .map(kind -> kind.getKey() + " (" + kind.getValue() + ")")
                .collect(Collectors.joining("; "));
    }
}
