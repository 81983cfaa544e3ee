package dev.millrace.profile;

/**
 * What the profiler recorded of one producer in one mode.
 *
 * @param producer as on the command line, such as {@code kafka-4.3.1}
 * @param records how many records were sent while the profiler ran
 * @param samples how many samples the profiler took
 * @param engine what took the CPU samples: {@code perf_events}, {@code ctimer} or {@code itimer}
 */
record Profile(String producer, ProfileMode mode, long records, long samples, String engine, CollapsedStacks stacks) {
    /** The weight per record, in nanoseconds or bytes. */
    double perRecord(long weight) {
        return (double) weight / records;
    }
}
