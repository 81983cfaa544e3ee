package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.time.Duration;
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

    @ParameterizedTest
    @CsvSource({"90, PT90S", "90s, PT90S", "5m, PT5M", "2h, PT2H", "7d, PT168H", "99999d, PT2399976H"})
    void shouldTakeDurations(String text, Duration duration) {
        assertThat(OptionValues.parseDuration(text)).isEqualTo(duration);
    }

    @ParameterizedTest
    @CsvSource({
        "earliest, -2",
        "Latest, -1",
        "1970-01-01T00:00:01Z, 1000",
        "1970-01-01T01:00:00.5+01:00, 500",
        "1970-01-01T00:01Z, 60000",
        "90s-ago, 10000",
        "1m-AGO, 40000",
        "0-ago, 100000"
    })
    void shouldTakePlacesInALog(String text, long timestamp) {
        assertThat(OptionValues.parsePlace(text, 100_000).timestampAt(0)).isEqualTo(timestamp);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "none", "newest", "5", "2h", "ago", "-ago", "2w-ago", "2026-11-29", "2026-11-29T08:30:00"})
    void shouldSayWhatAPlaceInALogIs(String text) {
        assertThatThrownBy(() -> OptionValues.parsePlace(text, 100_000))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("earliest, latest, a time with its zone")
                .hasMessageContaining("not '" + text + "'");
    }

    @Test
    void shouldRefuseTimesThatNoRecordHas() {
        assertThatThrownBy(() -> OptionValues.parsePlace("1970-01-01T00:02:00Z", 100_000))
                .hasMessage("expected a time in the past, not '1970-01-01T00:02:00Z'");
        assertThatThrownBy(() -> OptionValues.parsePlace("forever-ago", 100_000))
                .hasMessage("expected a time since 1970, not 'forever-ago'");
    }

    @Test
    void shouldNameAHostThatDoesNotExist() {
        assertThatThrownBy(() -> OptionValues.parseAddress("no.such.host.invalid:9464"))
                .hasMessage("there is no host 'no.such.host.invalid'");
    }
}
