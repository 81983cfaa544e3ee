package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.millrace.client.io.SenderSettings;
import dev.millrace.client.support.LogLines;
import dev.millrace.client.support.ProducerKind;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

class ProducerSettingsTest {
    private static final int LONGEST = Integer.MAX_VALUE;

    @Test
    void shouldWaitForTheFlushWhenLingerMsIsLongerThanAnyDelivery() {
        for (long lingerMs : new long[] {LONGEST, LONGEST + 1L, Long.MAX_VALUE - 1, Long.MAX_VALUE}) {
            SenderSettings settings = settings("linger.ms", lingerMs);

            assertThat(settings.lingerMs()).isEqualTo(LONGEST);
            assertThat(settings.deliveryTimeoutMs()).isEqualTo(LONGEST);
        }
    }

    @Test
    void shouldRaiseAnUnsetDeliveryTimeoutToWhatLingeringAndARequestTake() {
        assertThat(settings("linger.ms", 200_000).deliveryTimeoutMs()).isEqualTo(230_000);
        assertThat(settings("request.timeout.ms", LONGEST).deliveryTimeoutMs()).isEqualTo(LONGEST);
        assertThat(settings().deliveryTimeoutMs()).isEqualTo(120_000);
    }

    /** In the nanoseconds of the network layer it would overflow, and every connection would be closed at once. */
    @Test
    void shouldKeepConnectionsForEverWhenToldTo() {
        for (Object idleMs : new Object[] {Long.MAX_VALUE, Long.MAX_VALUE - 1, Long.toString(Long.MAX_VALUE)}) {
            long boundMs = parse("connections.max.idle.ms", idleMs).getLong("connections.max.idle.ms");

            assertThat(Math.multiplyExact(boundMs, 2_000_000L)).isPositive();
        }
        assertThat(parse("connections.max.idle.ms", -1).getLong("connections.max.idle.ms"))
                .isEqualTo(-1);
    }

    /** No request can say it, and no coordinator would take it. */
    @Test
    void shouldRefuseATransactionTimeoutThatIsNotPositive() {
        for (int timeoutMs : new int[] {0, -1, Integer.MIN_VALUE}) {
            assertThatThrownBy(() -> parse("transactional.id", "t", "transaction.timeout.ms", timeoutMs))
                    .isInstanceOf(ConfigException.class)
                    .hasMessageContaining("transaction.timeout.ms")
                    .hasMessageContaining("positive");

            parse("transaction.timeout.ms", timeoutMs); // without transactions it means nothing
        }
    }

    @Test
    void shouldLogTheSettingsUnderTheNameThatPeopleSearchFor() {
        try (LogLines log = new LogLines("org.apache.kafka.common.config", Level.INFO)) {
            parse("linger.ms", 7);

            assertThat(log.with("ProducerConfig values:"))
                    .singleElement()
                    .asString()
                    .startsWith("INFO ProducerConfig values:")
                    .contains("linger.ms = 7");
        }
    }

    private static SenderSettings settings(Object... more) {
        return ProducerSettings.senderSettings(parse(more), MillraceConfig.parse(Map.of()));
    }

    private static ProducerConfig parse(Object... more) {
        Map<String, Object> configs = ProducerKind.with(Map.of("bootstrap.servers", "localhost:1"), more);
        return ProducerSettings.parse(configs, new ByteArraySerializer(), new ByteArraySerializer());
    }
}
