package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import dev.millrace.mirror.http.LogEvent;
import dev.millrace.mirror.run.Mirror;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LimitedConsoleTest {
    private static final String CLIENT = "org.apache.kafka.clients.NetworkClient";
    private static final String PRODUCER = "dev.millrace.kafka.clients.NetworkClient";
    private static final String AWAY = "Connection to node 1 (localhost/127.0.0.1:9092) could not be established.";

    private final LoggerContext context = new LoggerContext();
    private final LimitedConsole console = new LimitedConsole();
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();

    private long nowMillis = 1_000_000;

    @BeforeEach
    void open() {
        context.setMDCAdapter(new LogbackMDCAdapter());
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern("%level %msg\n");
        encoder.start();
        console.setContext(context);
        console.setEncoder(encoder);
        console.setInterval(30);
        console.start();
        console.setOutputStream(written);
    }

    @Test
    void shouldShowAWarningOnceInAWhileAndTellHowManyWereLeftOut() {
        for (int second = 0; second < 31; second++) {
            log(CLIENT, Level.WARN, AWAY);
            nowMillis += 1_000;
        }
        log(CLIENT, Level.WARN, AWAY);

        assertThat(lines()).containsExactly("WARN " + AWAY, "WARN " + AWAY + " (29 more like it not shown)");
        assertThat(console.recent())
                .extracting(LogEvent::text)
                .containsExactly(AWAY, AWAY + " (29 more like it not shown)");
    }

    @Test
    void shouldKeepTheLastWarningsAndNothingElse() {
        log(PRODUCER, Level.INFO, "All is well");
        for (int number = 0; number < 201; number++) {
            log("dev.millrace.mirror.progress.SourceGaps", Level.WARN, "Gap " + number);
        }

        assertThat(console.recent()).hasSize(200).extracting(LogEvent::level).containsOnly("WARN");
        assertThat(console.recent().get(0).text()).isEqualTo("Gap 1");
    }

    @Test
    void shouldTakeWarningsOfSeveralClientsAboutSeveralNodesForTheSame() {
        log(CLIENT, Level.WARN, "[Consumer clientId=mirror-consumer-0, groupId=g] " + AWAY);
        log(CLIENT, Level.WARN, "[Consumer clientId=mirror-consumer-12, groupId=g] " + AWAY);
        log(PRODUCER, Level.WARN, "[Producer clientId=mirror-producer] " + AWAY.replace("node 1", "node 2"));
        log(PRODUCER, Level.WARN, "[Producer clientId=mirror-producer] Something else");

        assertThat(lines())
                .containsExactly(
                        "WARN [Consumer clientId=mirror-consumer-0, groupId=g] " + AWAY,
                        "WARN [Producer clientId=mirror-producer] Something else");
    }

    @Test
    void shouldShowEachOfTheMirrorsOwnWarningsAndAllThatIsNone() {
        log(Mirror.class.getName(), Level.WARN, "Topic a-1 differs");
        log(Mirror.class.getName(), Level.WARN, "Topic a-2 differs");
        log(Mirror.class.getName(), Level.WARN, "Topic a-1 differs");
        log(Mirror.class.getName(), Level.INFO, "Created");
        log(Mirror.class.getName(), Level.INFO, "Created");

        assertThat(lines())
                .containsExactly("WARN Topic a-1 differs", "WARN Topic a-2 differs", "INFO Created", "INFO Created");
    }

    @Test
    void shouldNotBeSilencedByAClockThatIsSetBack() {
        log(CLIENT, Level.WARN, AWAY);
        nowMillis -= 3_600_000;
        log(CLIENT, Level.WARN, AWAY);

        assertThat(lines()).hasSize(2);
    }

    @Test
    void shouldShowEverythingWithoutAnInterval() {
        console.setInterval(0);

        log(CLIENT, Level.WARN, AWAY);
        log(CLIENT, Level.WARN, AWAY);

        assertThat(lines()).containsExactly("WARN " + AWAY, "WARN " + AWAY);
    }

    private void log(String logger, Level level, String message) {
        LoggingEvent event = new LoggingEvent();
        event.setLoggerContext(context);
        event.setLoggerName(logger);
        event.setLevel(level);
        event.setMessage(message);
        event.setTimeStamp(nowMillis);
        console.doAppend(event);
    }

    private String[] lines() {
        return written.toString(StandardCharsets.UTF_8).split("\n");
    }
}
