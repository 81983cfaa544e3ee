package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.text.MirrorException;
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
        GivenSettings given = new GivenSettings();
        given.addOption("bootstrap.servers", addresses, "--source");
        Map<String, Object> consumer = ClientConfigs.consumer(given);
        Map<String, Object> producer = ClientConfigs.producer(given);

        assertThatCode(() -> ClientCheck.checkConsumer(consumer, given)).doesNotThrowAnyException();
        assertThatCode(() -> ClientCheck.checkProducer(producer, ProducerKind.MILLRACE, given))
                .doesNotThrowAnyException();
    }

    @Test
    void shouldRefuseHostsThatAreAllUnknown() {
        String addresses = "no.such.invalid:1,nor.this.invalid:2";
        GivenSettings given = new GivenSettings();
        given.add(Map.of("bootstrap.servers", addresses), "--config f.yaml", ": source.");

        assertThatThrownBy(() -> ClientCheck.checkConsumer(ClientConfigs.consumer(given), given))
                .isInstanceOf(MirrorException.class)
                .hasMessageStartingWith("--config f.yaml: source.bootstrap.servers=" + addresses + ": ");
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseWhatAProducerRefusesWhenItIsOpened(ProducerKind kind) {
        GivenSettings given = new GivenSettings();
        given.addOption("bootstrap.servers", "127.0.0.1:1", "--target");
        Map<String, Object> config = ClientConfigs.producer(given);
        config.putAll(Map.of("linger.ms", "100000", "delivery.timeout.ms", "99999"));

        assertThatThrownBy(() -> ClientCheck.checkProducer(config, kind, given))
                .isInstanceOf(MirrorException.class)
                .hasMessageStartingWith("Configuration: ")
                .hasMessageContaining("delivery.timeout.ms");
    }
}
