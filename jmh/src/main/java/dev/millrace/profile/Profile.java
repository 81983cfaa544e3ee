package dev.millrace.profile;

/**
 * One producer under load, seen in one way.
 *
 * @param producer as of the command line, such as {@code kafka-4.3.1}
 * @param records how many were sent while the profiler ran
 * @param samples how many the profiler took
 * @param engine what took the samples of CPU: {@code perf_events}, {@code ctimer} or {@code itimer}
 */
record Profile(String producer, ProfileMode mode, long records, long samples, String engine, CollapsedStacks stacks) {
    /** What was counted, for each record: nanoseconds or bytes. */
    double perRecord(long weight) {
        return (double) weight / records;
    }
}
