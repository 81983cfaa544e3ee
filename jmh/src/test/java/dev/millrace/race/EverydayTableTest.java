package dev.millrace.race;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EverydayTableTest {
    private final EverydayTable table = new EverydayTable();

    @Test
    void shouldShowWhatCountsInEachCase() {
        RaceResults rate = new RaceResults("");
        rate.add("millrace", 8, rate(10_000, 4, 8, 100));
        rate.add("kafka-4.4.0", 8, rate(20_000, 5, 10, 1000));
        table.add(EverydayCase.RATE_1000, rate);
        RaceResults first = new RaceResults("");
        first.add("millrace", 1, Map.of(RaceMetric.FIRST_ACK_MS, 300.0, RaceMetric.CLASSES_LOADED, 2000.0));
        first.add("kafka-4.4.0", 1, Map.of(RaceMetric.FIRST_ACK_MS, 400.0, RaceMetric.CLASSES_LOADED, 2500.0));
        table.add(EverydayCase.FIRST, first);
        RaceResults full = new RaceResults("");
        full.add("millrace", 32, Map.of(RaceMetric.RECORDS_PER_S, 3e6, RaceMetric.CPU_NS_PER_RECORD, 500.0));
        table.add(EverydayCase.CALLBACKS, full);

        assertThat(table.print().lines().map(line -> line.replaceAll(" +", " ")))
                .contains(
                        "| case | what | millrace | kafka-4.4.0 | millrace / kafka-4.4.0 |",
                        "| rate-1000 | 8 threads, 1,000 records/s, callbacks, short warm-up"
                                + " | 10,000 ns, 4.00 ms, 8.00 ms, 100.0 µs"
                                + " | 20,000 ns, 5.00 ms, 10.00 ms, 1,000.0 µs | 0.50, 0.80, 0.80, 0.10 |",
                        "| first | the first record of a new JVM, default settings | 300 ms, 2,000 classes"
                                + " | 400 ms, 2,500 classes | 0.75, 0.80 |",
                        "| callbacks | 32 threads, full speed, a callback on every record"
                                + " | 3,000,000/s, 500 ns, – | – | – |");
    }

    private static Map<RaceMetric, Double> rate(double ownCpu, double ackP50, double ackP99, double sendP999) {
        return new EnumMap<>(Map.of(
                RaceMetric.RECORDS_PER_S,
                1000.0,
                RaceMetric.OWN_CPU_NS_PER_RECORD,
                ownCpu,
                RaceMetric.ACK_P50_MS,
                ackP50,
                RaceMetric.ACK_P99_MS,
                ackP99,
                RaceMetric.SEND_P999_US,
                sendP999));
    }
}
