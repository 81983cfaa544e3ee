package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.status.MirrorTotals;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ProgressReportTest {
    private static final Duration ALWAYS = Duration.ofNanos(1);

    private final Logger logger = (Logger) org.slf4j.LoggerFactory.getLogger(ProgressReport.class);
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();

    @BeforeEach
    void listen() {
        log.start();
        logger.addAppender(log);
    }

    @AfterEach
    void stopListening() {
        logger.detachAppender(log);
        System.clearProperty("mirror.terminal");
    }

    @Test
    void shouldCountInWordsThatFitTheNumber() {
        ProgressReport report = report(1, ALWAYS);

        report.onStarted(Set.of("orders"));
        report.onFinished(totals(1));

        assertThat(logged().get(0)).isEqualTo("Mirroring topic orders with 1 thread and the millrace producer");
        assertThat(logged().get(1)).startsWith("Mirrored 1 record in ");
    }

    @Test
    void shouldRewriteALineThatCannotWrapOnATerminal() {
        System.setProperty("mirror.terminal", "true");
        ProgressReport report = report(2, ALWAYS);

        report.onStarted(Set.of("a", "b"));
        report.onProgress(totals(12_345_678), 720);

        // Wrapping off, the line, clear the rest of the line, wrapping on, and back to the start.
        assertThat(written.toString(StandardCharsets.UTF_8))
                .matches(
                        Pattern.compile(
                                "\u001b\\[\\?7l12,345,678 records \\| lag 9,000, caught up in 12 min \\| [^\u001b]*[^ \u001b]\u001b\\[K\u001b\\[\\?7h\r"));
        assertThat(logged()).containsExactly("Mirroring 2 topics with 2 threads and the millrace producer");
    }

    @Test
    void shouldTellNothingOnTheWayWhenTheIntervalIsZero() {
        ProgressReport report = report(1, Duration.ZERO);

        report.onStarted(Set.of("a"));
        report.onProgress(totals(5), Double.NaN);
        report.onFinished(totals(5));

        assertThat(logged()).hasSize(2).noneMatch(line -> line.contains("lag"));
    }

    @Test
    void shouldLogOnlyAfterTheInterval() {
        ProgressReport patient = report(1, Duration.ofDays(1));
        ProgressReport eager = report(1, ALWAYS);
        patient.onStarted(Set.of("a"));
        eager.onStarted(Set.of("a"));
        log.list.clear();

        patient.onProgress(totals(5), Double.NaN);
        assertThat(logged()).isEmpty();
        eager.onProgress(totals(5), Double.NaN);
        assertThat(logged()).hasSize(1).first().asString().startsWith("5 records | lag 9,000 | ");
    }

    @Test
    void shouldTellTheLagAsFarAsItIsKnown() {
        assertThat(ProgressReport.lag(new MirrorTotals(5, 3, 0, 0, 7_000, true)))
                .isEqualTo("lag 7,002");
        assertThat(ProgressReport.lag(new MirrorTotals(0, 0, 0, 0, 7, false))).isEqualTo("lag at least 7");
        assertThat(ProgressReport.lag(new MirrorTotals(3, 3, 0, 0, 0, false))).isEqualTo("lag unknown");
    }

    private ProgressReport report(int threads, Duration interval) {
        MirrorConfig config = new MirrorConfig(
                Pattern.compile(".*"), threads, CopyMode.CONSUMER, ProducerKind.MILLRACE, Map.of(), Map.of());
        return new ProgressReport(config, new PrintStream(written, true, StandardCharsets.UTF_8), interval);
    }

    private static MirrorTotals totals(long records) {
        return new MirrorTotals(records, records, 0, 100 * records, 9_000, true);
    }

    private List<String> logged() {
        return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }
}
