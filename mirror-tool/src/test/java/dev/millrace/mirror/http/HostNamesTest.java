package dev.millrace.mirror.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HostNamesTest {
    private final HostNames hosts = new HostNames(Set.of("Mirror-1.example"));

    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost",
                "LocalHost:9464",
                "127.0.0.1",
                "127.0.0.1:9464",
                "10.1.2.3:80",
                "[::1]",
                "[::1]:9464",
                "mirror-1.example",
                "MIRROR-1.EXAMPLE:9464"
            })
    void shouldAllowAddressesAndTheNamesOfTheServer(String header) {
        assertThat(hosts.areAllowed(header)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "evil.example",
                "evil.example:9464",
                "localhost.evil.example",
                "127.0.0.1.evil.example",
                "evil.example/127.0.0.1",
                "127.0.0.1, evil.example",
                "1.2.3",
                "[evil.example]",
                "localhost:9464:1",
                "localhost@evil.example",
                "mirror-1.example.evil.example"
            })
    void shouldRefuseAllOtherNames(String header) {
        assertThat(hosts.areAllowed(header)).isFalse();
    }

    @Test
    void shouldRefuseRequestsWithoutAName() {
        assertThat(hosts.areAllowed(null)).isFalse();
    }
}
