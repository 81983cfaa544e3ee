package dev.millrace.race;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What is measured in one run of a racer. In JSON it has its name in lower case. */
enum RaceMetric {
    RECORDS_PER_S("records/s", "%,.0f"),
    /** CPU time of the whole process: sending threads, I/O, garbage collector and compiler. */
    CPU_NS_PER_RECORD("CPU ns/record", "%,.0f"),
    /** The same of {@link LoadProducer} with the same options. */
    LOAD_CPU_NS_PER_RECORD("load", "%,.0f"),
    /** The CPU time of the process without that of the load. */
    OWN_CPU_NS_PER_RECORD("own", "%,.0f"),
    SEND_P50_US("send p50 µs", "%,.2f"),
    SEND_P99_US("p99 µs", "%,.1f"),
    SEND_P999_US("p99.9 µs", "%,.1f"),
    SEND_MAX_US("max µs", "%,.0f"),
    ACK_P50_MS("ack p50 ms", "%,.2f"),
    ACK_P99_MS("p99 ms", "%,.2f"),
    /** Java heap allocated by all threads. */
    BYTES_PER_RECORD("bytes/record", "%,.0f"),
    /** Java heap allocated by the threads that call {@code send}. */
    SENDER_BYTES_PER_RECORD("in send", "%,.0f"),
    GC_MS("GC ms", "%,.0f"),
    GC_COUNT("GCs", "%,.0f"),
    /** How long the threads of the JIT compiler were at work, all together. */
    COMPILER_MS("JIT ms", "%,.0f"),
    /** CPU time of all that does not belong to the race, in percent of one core. */
    OTHERS_PERCENT("others %", "%,.1f"),
    /** What the hypervisor took, in percent of one core. */
    STEAL_PERCENT("steal %", "%,.1f"),
    /** All system calls per 1,000 records. The metrics after it are per 1,000 records too. */
    SYSCALLS("system calls/1,000", "%,.1f"),
    FUTEX("futex", "%,.1f"),
    EPOLL_WAIT("epoll_wait", "%,.1f"),
    /** Writes to sockets, and the wake-ups too if the counter cannot tell them apart. */
    WRITE("write", "%,.1f"),
    /** Writes that end the wait of a selector. */
    WAKE_UPS("wake-ups", "%,.1f"),
    READ("read", "%,.1f"),
    CLOCK_READS("clock reads", "%,.1f"),
    /** From the start of the JVM until the first record is acknowledged. */
    FIRST_ACK_MS("first ack ms", "%,.0f"),
    /** Classes that the JVM loaded to send one record, with those of the JDK and of the measurement. */
    CLASSES_LOADED("classes", "%,.0f");

    private static final Pattern NUMBER = Pattern.compile("\"(\\w+)\":\\s*(-?[0-9.eE+-]+)");

    private final String heading;
    private final String format;

    RaceMetric(String heading, String format) {
        this.heading = heading;
        this.format = format;
    }

    /**
     * The heading of its column. It may continue the heading to its left, as {@code p99 µs} after {@code send p50 µs}.
     */
    String heading() {
        return heading;
    }

    /** The heading of a column that does not continue the one to its left. */
    String wholeHeading() {
        return heading.startsWith("p") ? json().replaceFirst("_.*", " ") + heading : heading;
    }

    boolean isMoreBetter() {
        return this == RECORDS_PER_S;
    }

    String json() {
        return name().toLowerCase(Locale.ROOT);
    }

    String show(double value) {
        return String.format(Locale.ROOT, format, value);
    }

    /** What a racer prints: one JSON object in one line. */
    static String toJson(Map<RaceMetric, Double> metrics) {
        StringJoiner members = new StringJoiner(",", "{", "}");
        metrics.forEach((metric, value) -> members.add("\"" + metric.json() + "\":" + value));
        return members.toString();
    }

    static boolean isJson(String line) {
        return line.startsWith("{");
    }

    /** Reads what {@link #toJson} printed. A racer in another language leaves out what it does not measure. */
    static Map<RaceMetric, Double> fromJson(String line) {
        Map<RaceMetric, Double> metrics = new EnumMap<>(RaceMetric.class);
        Matcher numbers = NUMBER.matcher(line);
        while (numbers.find()) {
            metrics.put(valueOf(numbers.group(1).toUpperCase(Locale.ROOT)), Double.valueOf(numbers.group(2)));
        }
        return metrics;
    }
}
