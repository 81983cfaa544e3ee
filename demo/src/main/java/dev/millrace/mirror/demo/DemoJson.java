package dev.millrace.mirror.demo;

import dev.millrace.mirror.text.Json;
import java.util.Locale;

/** The result of one run as a JSON object in one line. */
final class DemoJson {
    private DemoJson() {}

    static String format(DemoRow row) {
        Contender contender = row.contender();
        CpuPerRecord cpu = row.figures().cpu();
        return String.format(
                Locale.ROOT,
                "{\"contender\":%s,\"mode\":%s,\"threads\":%d,\"records_per_s\":%.0f,\"cpu_ns_per_record\":%.1f,"
                        + "\"compiler_cpu_ns_per_record\":%s,\"source_cpu_ns_per_record\":%s,\"target_cpu_ns_per_record\":%s,\"target\":%s}",
                Json.quote(contender.contenderName().label()),
                contender.mode().map(mode -> Json.quote(mode.label())).orElse("null"),
                row.threads(),
                row.figures().recordsPerSecond(),
                cpu.process(),
                number(cpu.compiler()),
                number(cpu.source()),
                number(cpu.target()),
                Json.quote(row.verdict()));
    }

    private static String number(double value) {
        return Double.isNaN(value) ? "null" : String.format(Locale.ROOT, "%.1f", value);
    }
}
