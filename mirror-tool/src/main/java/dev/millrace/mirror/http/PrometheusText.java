package dev.millrace.mirror.http;

import dev.millrace.mirror.status.LatencyCounts;
import java.util.Arrays;

/**
 * Formats metrics as Prometheus text, version 0.0.4: families, each with its samples.
 *
 * <p><b>Threads:</b> one.
 */
final class PrometheusText {
    static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private static final double MAX_EXACT = 1L << 53;

    private final StringBuilder text = new StringBuilder();
    private String family;

    /** Begins a family of counts that only grow; its name ends with {@code _total}. */
    PrometheusText counter(String name, String help) {
        return family(name, "counter", help);
    }

    PrometheusText gauge(String name, String help) {
        return family(name, "gauge", help);
    }

    PrometheusText histogram(String name, String help) {
        return family(name, "histogram", help);
    }

    private PrometheusText family(String name, String type, String help) {
        family = name;
        text.append("# HELP ").append(name).append(' ').append(escape(help)).append('\n');
        text.append("# TYPE ").append(name).append(' ').append(type).append('\n');
        return this;
    }

    /**
     * Adds a sample to the family that was begun last.
     *
     * @param labels names and values in turn
     */
    PrometheusText add(long value, String... labels) {
        return sample("", Long.toString(value), labels);
    }

    /** Adds a sample to the family that was begun last. */
    PrometheusText add(double value, String... labels) {
        return sample("", number(value), labels);
    }

    /** Adds a histogram, with bounds in seconds, to the family that was begun last. */
    PrometheusText add(LatencyCounts counts, String... labels) {
        long passed = 0;
        for (int i = 0; i < counts.counts().length; i++) {
            passed += counts.counts()[i];
            boolean isLast = i == counts.boundsMs().length;
            String bound = isLast ? "+Inf" : number(counts.boundsMs()[i] / 1e3);
            sample("_bucket", Long.toString(passed), with(labels, "le", bound));
        }
        return sample("_sum", number(counts.sumSeconds()), labels).sample("_count", Long.toString(passed), labels);
    }

    private PrometheusText sample(String suffix, String value, String... labels) {
        text.append(family).append(suffix);
        for (int i = 0; i < labels.length; i += 2) {
            text.append(i == 0 ? '{' : ',').append(labels[i]).append("=\"");
            text.append(escape(labels[i + 1]).replace("\"", "\\\"")).append('"');
        }
        text.append(labels.length == 0 ? " " : "} ").append(value).append('\n');
        return this;
    }

    private static String[] with(String[] labels, String name, String value) {
        String[] more = Arrays.copyOf(labels, labels.length + 2);
        more[labels.length] = name;
        more[labels.length + 1] = value;
        return more;
    }

    private static String escape(String value) {
        return value.replace("\\", "\\\\").replace("\n", "\\n");
    }

    private static String number(double value) {
        if (Double.isInfinite(value)) {
            return value > 0 ? "+Inf" : "-Inf";
        }
        return value == Math.rint(value) && Math.abs(value) < MAX_EXACT
                ? Long.toString((long) value)
                : Double.toString(value);
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
