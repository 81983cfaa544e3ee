package dev.millrace.profile;

import java.util.Locale;

/** What async-profiler counts. */
enum ProfileMode {
    /** Nanoseconds of CPU. */
    CPU("interval=1ms", "ns", "of CPU per record"),
    /**
     * Nanoseconds of waiting for a monitor, {@code ReentrantLock} or the like; waits of less than 10 µs are sampled.
     */
    LOCK("lock=10us", "ms", "of lock waits per million records"),
    /** Bytes allocated on the heap, estimated from a sample every 64 KiB. */
    ALLOC("alloc=64k", "B", "allocated per record"),
    /** Nanoseconds in {@code send}, whether the thread runs or waits. */
    WALL("wall=10ms", "ns", "per send");

    private final String options;
    private final String unit;
    private final String costLabel;

    ProfileMode(String options, String unit, String costLabel) {
        this.options = options;
        this.unit = unit;
        this.costLabel = costLabel;
    }

    /** The name on the command line and in file names. */
    String lowerCaseName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The options that start async-profiler, without the {@code event} of {@link #CPU}. */
    String options() {
        return options;
    }

    /** Whether the last frame of a stack is a type: that of the lock or of the new object. */
    boolean endsInType() {
        return this == LOCK || this == ALLOC;
    }

    /**
     * The cost of a record as text, in nanoseconds or bytes. Lock waits are shown in milliseconds per million records,
     * which is the same number as nanoseconds per record.
     */
    String formatCost(double perRecord) {
        return String.format(Locale.ROOT, perRecord >= 9.95 ? "%,.0f %s" : "%.1f %s", perRecord, unit);
    }

    /** Says what {@link #formatCost} is the cost of. */
    String costLabel() {
        return costLabel;
    }
}
