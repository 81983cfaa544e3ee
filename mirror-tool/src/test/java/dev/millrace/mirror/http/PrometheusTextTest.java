package dev.millrace.mirror.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.status.LatencyCounts;
import org.junit.jupiter.api.Test;

class PrometheusTextTest {
    private final PrometheusText text = new PrometheusText();

    @Test
    void shouldWriteEachFamilyWithItsHelpItsTypeAndItsSamples() {
        text.counter("a_total", "What a is.").add(3).add(1.5, "x", "1", "y", "2");
        text.gauge("b", "What b is.").add(1L << 40, "x", "1").add(Double.NaN);

        assertThat(text.toString()).isEqualTo("""
                # HELP a_total What a is.
                # TYPE a_total counter
                a_total 3
                a_total{x="1",y="2"} 1.5
                # HELP b What b is.
                # TYPE b gauge
                b{x="1"} 1099511627776
                b NaN
                """);
    }

    @Test
    void shouldEscapeLabelsAndHelp() {
        text.gauge("a", "A \\ and a\nnew line, \"quoted\".").add(1, "topic", "a\"b\\c\nd");

        assertThat(text.toString()).isEqualTo("""
                # HELP a A \\\\ and a\\nnew line, "quoted".
                # TYPE a gauge
                a{topic="a\\"b\\\\c\\nd"} 1
                """);
    }

    @Test
    void shouldAddUpTheBucketsOfAHistogram() {
        LatencyCounts counts = new LatencyCounts(new long[] {5, 1_000}, new long[] {2, 0, 4}, 60.5);

        text.histogram("h_seconds", "What h is.").add(counts, "topic", "t");

        assertThat(text.toString()).isEqualTo("""
                # HELP h_seconds What h is.
                # TYPE h_seconds histogram
                h_seconds_bucket{topic="t",le="0.005"} 2
                h_seconds_bucket{topic="t",le="1"} 2
                h_seconds_bucket{topic="t",le="+Inf"} 6
                h_seconds_sum{topic="t"} 60.5
                h_seconds_count{topic="t"} 6
                """);
    }
}
