package dev.millrace.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.programs.TracedProgram;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A program with OpenTelemetry's Java agent, which instruments {@code KafkaProducer} by its name, beside ours. */
@Tag("thorough")
class OpenTelemetryIT extends AgentFixture {
    private static final String OPENTELEMETRY = System.getProperty("millrace.opentelemetry.jar");

    /** The exporter prints a span as its name, trace and span. */
    private static final Pattern SPAN = Pattern.compile("'(\\S+) publish' : ([0-9a-f]{32}) ([0-9a-f]{16}) PRODUCER");

    private static final Pattern HEADER = Pattern.compile("traceparent 00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}");
    private static final Pattern METRIC = Pattern.compile("name=(kafka\\.producer\\.\\w+)");

    private static Seen stock;

    /** What the exporters printed, and the headers that the program read back. */
    private record Seen(Set<String> spans, Set<String> headers, Set<String> metrics) {}

    @BeforeAll
    static void runWithoutOurAgent() {
        stock = run("stock", AgentRun.withoutAgent().option("-javaagent:" + OPENTELEMETRY), STOCK);
    }

    @Test
    void shouldTraceAndMeasureAsTheStockProducerIfOurAgentIsFirst() {
        Seen seen = run("first", AgentRun.withAgent().option("-javaagent:" + OPENTELEMETRY), MILLRACE);

        assertSame(seen);
    }

    @Test
    void shouldTraceAndMeasureAsTheStockProducerIfOurAgentIsSecond() {
        Seen seen = run(
                "second",
                AgentRun.withoutAgent().option("-javaagent:" + OPENTELEMETRY).option("-javaagent:" + AgentRun.AGENT),
                MILLRACE);

        assertSame(seen);
    }

    private static void assertSame(Seen seen) {
        assertThat(stock.spans).as("of the stock producer").hasSize(300);
        assertThat(seen.spans).hasSize(300);
        assertThat(stock.headers).as("of the stock producer").isEqualTo(stock.spans);
        assertThat(seen.headers).isEqualTo(seen.spans);
        assertThat(stock.metrics).as("of the stock producer").hasSizeGreaterThan(30);
        assertThat(seen.metrics).containsAll(stock.metrics);
    }

    private static Seen run(String topic, AgentRun run, String worker) {
        String output = run.option("-Dotel.traces.exporter=logging")
                .option("-Dotel.metrics.exporter=logging")
                .option("-Dotel.logs.exporter=none")
                .option("-Dotel.instrumentation.kafka-clients-metrics.enabled=true")
                .run(TracedProgram.class.getName(), servers(), topic(topic));

        assertThat(output).contains(worker, "read 300 as sent");
        return new Seen(
                all(SPAN, output, match -> match.group(2) + " " + match.group(3)),
                all(HEADER, output, match -> match.group(1) + " " + match.group(2)),
                all(METRIC, output, match -> match.group(1)));
    }

    private static Set<String> all(Pattern pattern, String output, Function<Matcher, String> of) {
        Set<String> found = new TreeSet<>();
        Matcher matcher = pattern.matcher(output);
        while (matcher.find()) {
            found.add(of.apply(matcher));
        }
        return found;
    }
}
