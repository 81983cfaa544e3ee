package dev.millrace.profile;

import java.util.Locale;

/** What async-profiler counts. */
enum ProfileMode {
    /** Nanoseconds of CPU. */
    CPU("interval=1ms", "ns", "of CPU a record"),
    /** Nanoseconds of waiting for a monitor, {@code ReentrantLock} or the like; shorter waits than 10 µs are sampled. */
    LOCK("lock=10us", "ms", "of lock waits a million records"),
    /** Bytes allocated on the heap, estimated from a sample every 64 KiB. */
    ALLOC("alloc=64k", "B", "allocated a record"),
    /** Nanoseconds in {@code send}, whether its thread runs or waits. */
    WALL("wall=10ms", "ns", "a send");

    private final String options;
    private final String unit;
    private final String costLabel;

    ProfileMode(String options, String unit, String costLabel) {
        this.options = options;
        this.unit = unit;
        this.costLabel = costLabel;
    }

    /** As of the command line, and in names of files. */
    String lowerCaseName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** What to start async-profiler with, besides the {@code event} of {@link #CPU}. */
    String options() {
        return options;
    }

    /** Whether the last frame of a stack is a type, of the lock or of the new object. */
    boolean endsInType() {
        return this == LOCK || this == ALLOC;
    }

    /**
     * What a record costs, in words: nanoseconds or bytes; of lock waits, milliseconds a million records, which is the same
     * number as nanoseconds a record.
     */
    String formatCost(double perRecord) {
        return String.format(Locale.ROOT, perRecord >= 9.95 ? "%,.0f %s" : "%.1f %s", perRecord, unit);
    }

    /** What {@link #formatCost} is a cost of. */
    String costLabel() {
        return costLabel;
    }
}
