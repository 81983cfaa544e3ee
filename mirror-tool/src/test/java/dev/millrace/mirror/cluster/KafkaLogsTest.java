package dev.millrace.mirror.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.millrace.mirror.cli.ClientConfigs;
import dev.millrace.mirror.config.ProducerKind;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

/** What the two kinds of producers log; ours logs through the private copy of Kafka's classes. */
class KafkaLogsTest {
    private final List<Logger> clients = Stream.of("org.apache.kafka", "dev.millrace.kafka")
            .map(name -> (Logger) LoggerFactory.getLogger(name))
            .toList();
    private final List<Level> before = clients.stream().map(Logger::getLevel).toList();
    private final ListAppender<ILoggingEvent> said = new ListAppender<>();

    @BeforeEach
    void listen() {
        clients.forEach(logger -> logger.setLevel(Level.WARN)); // as in logback.xml
        said.start();
        clients.forEach(logger -> logger.addAppender(said));
    }

    @AfterEach
    void restore() {
        for (int i = 0; i < clients.size(); i++) {
            clients.get(i).detachAppender(said);
            clients.get(i).setLevel(before.get(i));
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldTellTheVersionOfAProducerOnlyWhenAllIsShown(ProducerKind kind) {
        openAndClose(kind);
        assertThat(versionsTold()).isZero();

        KafkaLogs.showAll();
        openAndClose(kind);

        assertThat(versionsTold()).isPositive();
    }

    @Test
    void shouldHideWarningsOfAllClientsDuringASilentCall() {
        KafkaLogs.callSilently(this::warn);
        assertThat(said.list).isEmpty();

        warn();

        assertThat(said.list).hasSameSizeAs(clients);
    }

    @Test
    void shouldHideNothingDuringASilentCallWhenAllIsShown() {
        KafkaLogs.showAll();

        KafkaLogs.callSilently(this::warn);

        assertThat(said.list).hasSameSizeAs(clients);
    }

    @Test
    void shouldKeepTheLevelOfEachClientAfterASilentCallThatFails() {
        clients.get(0).setLevel(Level.ERROR);
        clients.get(1).setLevel(null);

        assertThatThrownBy(() -> KafkaLogs.callSilently(() -> {
                    throw new IllegalStateException();
                }))
                .isInstanceOf(IllegalStateException.class);

        assertThat(clients).extracting(Logger::getLevel).containsExactly(Level.ERROR, null);
    }

    private boolean warn() {
        clients.forEach(logger -> logger.warn("A broker is away"));
        return true;
    }

    private long versionsTold() {
        return said.list.stream()
                .filter(event -> event.getFormattedMessage().startsWith("Kafka version: "))
                .count();
    }

    private static void openAndClose(ProducerKind kind) {
        kind.create(ClientConfigs.producer(null, "127.0.0.1:1")).close();
    }
}
