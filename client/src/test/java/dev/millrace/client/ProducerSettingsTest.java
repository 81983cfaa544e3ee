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

    /** Here with a version that knows some of them, in client/versions also with those that know none, and all. */
    @Test
    void shouldReadKeysThatTheKafkaClientsOnTheClassPathMayNotKnow() {
        ProducerConfig defaults = parse();
        ProducerConfig given = parse(
                "bootstrap.resolve.timeout.ms", "1000",
                "metadata.cluster.check.enable", "false",
                "metadata.recovery.rebootstrap.trigger.ms", "7",
                "partitioner.rack.aware", "true",
                "client.rack", "r");

        assertThat(defaults.getLong("bootstrap.resolve.timeout.ms")).isZero();
        assertThat(defaults.getBoolean("metadata.cluster.check.enable")).isTrue();
        assertThat(defaults.getLong("metadata.recovery.rebootstrap.trigger.ms")).isEqualTo(300_000);
        assertThat(ProducerSettings.preferredRack(defaults)).isEmpty();
        assertThat(given.getLong("bootstrap.resolve.timeout.ms")).isEqualTo(1_000);
        assertThat(given.getBoolean("metadata.cluster.check.enable")).isFalse();
        assertThat(given.getLong("metadata.recovery.rebootstrap.trigger.ms")).isEqualTo(7);
        assertThat(ProducerSettings.preferredRack(given)).isEqualTo("r");
        assertThat(given.unused())
                .doesNotContain("bootstrap.resolve.timeout.ms", "metadata.cluster.check.enable")
                .doesNotContain("partitioner.rack.aware", "client.rack");
    }

    @Test
    void shouldRefuseWrongValuesOfKeysThatTheKafkaClientsOnTheClassPathMayNotKnow() {
        assertRefused("bootstrap.resolve.timeout.ms", -1);
        assertRefused("bootstrap.resolve.timeout.ms", "soon");
        assertRefused("bootstrap.resolve.timeout.ms", null);
        assertRefused("metadata.cluster.check.enable", "perhaps");
        assertRefused("metadata.cluster.check.enable", null);
        assertRefused("partitioner.rack.aware", 1);
        assertRefused("partitioner.rack.aware", null);
    }

    private static void assertRefused(String key, Object value) {
        assertThatThrownBy(() -> parse(key, value))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining(key)
                .hasMessageContaining(String.valueOf(value));
    }

    private static SenderSettings settings(Object... more) {
        return ProducerSettings.senderSettings(parse(more), MillraceConfig.parse(Map.of()));
    }

    private static ProducerConfig parse(Object... more) {
        Map<String, Object> configs = ProducerKind.with(Map.of("bootstrap.servers", "localhost:1"), more);
        return ProducerSettings.parse(configs, new ByteArraySerializer(), new ByteArraySerializer());
    }
}
