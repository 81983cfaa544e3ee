package dev.millrace.mirror.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AccessTokenTest {
    private static final String SECRET = "0123456789abcdef";

    @Test
    void shouldTakeTheSameTextOnlyAndNeverShowIt() {
        AccessToken token = AccessToken.of(SECRET);

        assertThat(token.isSame(SECRET)).isTrue();
        assertThat(token.isSame(SECRET + "0")).isFalse();
        assertThat(token.isSame(SECRET.substring(1))).isFalse();
        assertThat(token.isSame("0123456789abcdeF")).isFalse();
        assertThat(token.isSame("")).isFalse();
        assertThat(token.toString()).doesNotContain(SECRET);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "0123456789abcde",
                "0123456789abcdef 0123456789abcdef",
                "0123456789abcdef\u00e4",
                "0123456789abcdef\n"
            })
    void shouldRefuseWhatIsTooShortOrCannotBeSentWithoutQuotingIt(String text) {
        assertThatThrownBy(() -> AccessToken.of(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at least 16 ASCII characters")
                .message()
                .doesNotContain("0123");
    }
}
