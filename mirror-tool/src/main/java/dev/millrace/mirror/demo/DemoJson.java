package dev.millrace.mirror.demo;

import java.util.Locale;

/** The result of one run as a JSON object in one line. */
final class DemoJson {
    private DemoJson() {}

    static String format(DemoRow row) {
        Contender contender = row.contender();
        return String.format(
                Locale.ROOT,
                "{\"contender\":%s,\"mode\":%s,\"threads\":%d,\"records_per_s\":%.0f,\"cpu_ns_per_record\":%.1f,"
                        + "\"source_cpu_ns_per_record\":%s,\"target_cpu_ns_per_record\":%s,\"target\":%s}",
                quote(contender.contenderName().label()),
                contender.mode().map(mode -> quote(mode.label())).orElse("null"),
                row.threads(),
                row.figures().recordsPerSecond(),
                row.figures().cpuNanosPerRecord(),
                number(row.figures().sourceCpuNanosPerRecord()),
                number(row.figures().targetCpuNanosPerRecord()),
                quote(row.verdict()));
    }

    private static String number(double value) {
        return Double.isNaN(value) ? "null" : String.format(Locale.ROOT, "%.1f", value);
    }

    private static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
