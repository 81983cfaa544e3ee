package dev.millrace.client.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The oracle finds what it looks for. */
class SecretOracleTest {
    private static final String SECRET = "a-secret-word";
    private static final Logger log = LoggerFactory.getLogger(SecretOracleTest.class);

    @ParameterizedTest
    @ValueSource(strings = {"", "u", "me:", "user:"})
    void shouldFindASecretInBase64WhateverStandsAroundIt(String before) {
        for (String after : new String[] {"", ".", "..", "..."}) {
            String encoded =
                    Base64.getEncoder().encodeToString((before + SECRET + after).getBytes(StandardCharsets.UTF_8));

            assertThat(SecretOracle.forms(SECRET)).anyMatch(encoded::contains);
        }
    }

    @Test
    void shouldFindASecretInTheLogOfAnyLevelAndInCauses() {
        try (SecretOracle oracle = new SecretOracle()) {
            say(20);
            log.trace("{}", SECRET);
            assertThatThrownBy(() -> oracle.assertNowhere(SECRET)).isInstanceOf(AssertionError.class);
        }
        try (SecretOracle oracle = new SecretOracle()) {
            say(20);
            oracle.onThrown(new IllegalStateException("no", new IllegalStateException(SECRET)));
            assertThatThrownBy(() -> oracle.assertNowhere(SECRET)).isInstanceOf(AssertionError.class);
        }
        try (SecretOracle oracle = new SecretOracle()) {
            say(20);
            oracle.assertNowhere(SECRET);
        }
    }

    private static void say(int times) {
        for (int i = 0; i < times; i++) {
            log.debug("nothing");
        }
    }
}
