package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.mirror.MirrorException;
import dev.millrace.mirror.ProducerKind;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClientCheckTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "127.0.0.1:1",
                "no.such.host.invalid:1, 127.0.0.1:1", // One of several is enough for Kafka.
                "[::1]:1",
                "PLAINTEXT://127.0.0.1:1"
            })
    void shouldTakeAddressesThatKafkaTakes(String addresses) {
        Map<String, Object> consumer = ClientConfigs.consumer(null, addresses, "group");
        Map<String, Object> producer = ClientConfigs.producer(null, addresses);

        assertThatCode(() -> ClientCheck.checkConsumer(consumer, null, addresses))
                .doesNotThrowAnyException();
        assertThatCode(() -> ClientCheck.checkProducer(producer, ProducerKind.MILLRACE, null, addresses))
                .doesNotThrowAnyException();
    }

    @Test
    void shouldRefuseHostsThatAreAllUnknown() {
        Map<String, Object> config = ClientConfigs.consumer(null, "no.such.invalid:1,nor.this.invalid:2", "group");

        assertThatThrownBy(() -> ClientCheck.checkConsumer(config, null, null))
                .isInstanceOf(MirrorException.class)
                .hasMessageStartingWith("--consumer.config bootstrap.servers=no.such.invalid:1,nor.this.invalid:2: ");
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseWhatAProducerRefusesWhenItIsOpened(ProducerKind kind) {
        Map<String, Object> config = ClientConfigs.producer(null, "127.0.0.1:1");
        config.putAll(Map.of("linger.ms", "100000", "delivery.timeout.ms", "99999"));

        assertThatThrownBy(() -> ClientCheck.checkProducer(config, kind, null, "127.0.0.1:1"))
                .isInstanceOf(MirrorException.class)
                .hasMessageStartingWith("Configuration: ")
                .hasMessageContaining("delivery.timeout.ms");
    }
}
