package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class OptionValuesTest {
    @ParameterizedTest
    @CsvSource({
        "9464, 127.0.0.1, 9464",
        "0, 127.0.0.1, 0",
        "127.0.0.1:80, 127.0.0.1, 80",
        "0.0.0.0:9464, 0.0.0.0, 9464",
        "localhost:1, 127.0.0.1, 1",
        "[::1]:9464, 0:0:0:0:0:0:0:1, 9464"
    })
    void shouldBindAPortAloneToTheLoopbackInterface(String text, String host, int port) {
        InetSocketAddress address = OptionValues.parseAddress(text);

        assertThat(address.getAddress().getHostAddress()).isEqualTo(host);
        assertThat(address.getPort()).isEqualTo(port);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", ":", ":9464", "x", "-1", "65536", "localhost", "localhost:", "a:b", "http://a:1/", "::1"})
    void shouldSayWhatAnAddressIs(String text) {
        assertThatThrownBy(() -> OptionValues.parseAddress(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("[HOST:]PORT")
                .hasMessageContaining("not '" + text + "'");
    }

    @Test
    void shouldNameAHostThatDoesNotExist() {
        assertThatThrownBy(() -> OptionValues.parseAddress("no.such.host.invalid:9464"))
                .hasMessage("there is no host 'no.such.host.invalid'");
    }
}
