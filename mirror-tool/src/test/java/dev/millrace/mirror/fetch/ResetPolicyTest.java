package dev.millrace.mirror.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.kafka.common.config.ConfigException;
import org.junit.jupiter.api.Test;

class ResetPolicyTest {
    @Test
    void shouldAskForTheEndsOfTheLogOrForATime() {
        assertThat(ResetPolicy.of("earliest").timestampAt(5_000)).isEqualTo(ResetPolicy.EARLIEST);
        assertThat(ResetPolicy.of("Latest").timestampAt(5_000)).isEqualTo(ResetPolicy.LATEST);
        assertThat(ResetPolicy.of("by_duration:PT2S").timestampAt(5_000)).isEqualTo(3_000);
        assertThat(ResetPolicy.of("by_duration:PT2H").timestampAt(5_000)).isZero();
    }

    @Test
    void shouldAllowNothingWithNone() {
        assertThat(ResetPolicy.of("none").isAllowed()).isFalse();
        assertThat(ResetPolicy.of("latest").isAllowed()).isTrue();
        assertThat(ResetPolicy.of("by_duration:PT2S").isAllowed()).isTrue();
    }

    @Test
    void shouldNameAWrongValue() {
        assertThatThrownBy(() -> ResetPolicy.of("newest"))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("newest")
                .hasMessageContaining("earliest");
    }
}
