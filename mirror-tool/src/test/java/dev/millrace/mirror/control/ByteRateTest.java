package dev.millrace.mirror.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteRateTest {
    @ParameterizedTest
    @CsvSource({
        "1000, 1000, 1 KB/s",
        "1500B, 1500, '1,500 B/s'",
        "500KB, 500000, 500 KB/s",
        "10mb, 10000000, 10 MB/s",
        "2GB, 2000000000, '2,000 MB/s'",
        "1000GB, 1000000000000, '1,000,000 MB/s'",
        "none, 0, none"
    })
    void shouldReadAndShowRates(String text, long rate, String shown) {
        assertThat(ByteRate.parse(text)).isEqualTo(rate);
        assertThat(ByteRate.describe(rate)).isEqualTo(shown);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "0",
                "999",
                "-1",
                "-10MB",
                "1001GB",
                "9223372036854775807",
                "99999999999999999999",
                "1.5MB",
                "10 MB",
                "10MiB",
                "MB",
                "NaN"
            })
    void shouldSayWhatIsExpectedInsteadOfAllElse(String text) {
        assertThatThrownBy(() -> ByteRate.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("from 1KB to 1000GB")
                .hasMessageContaining("not '" + text + "'");
    }
}
