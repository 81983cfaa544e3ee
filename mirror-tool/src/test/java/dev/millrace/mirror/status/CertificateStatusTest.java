package dev.millrace.mirror.status;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.ClusterRole;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class CertificateStatusTest {
    private static final Instant EXPIRY = Instant.parse("2026-12-24T18:00:00Z");
    private final CertificateStatus certificate = new CertificateStatus(ClusterRole.TARGET, "/etc/mirror.p12", EXPIRY);

    @Test
    void shouldWarnFromSevenDaysBefore() {
        assertThat(warning(Duration.ofDays(7).plusSeconds(1))).isEmpty();
        assertThat(warning(Duration.ofDays(7)))
                .isEqualTo("The certificate for the target, /etc/mirror.p12, expires in 7 d 0 h, at " + EXPIRY);
        assertThat(warning(Duration.ofSeconds(50))).contains("expires in 50 s");
    }

    @Test
    void shouldSayThatItHasExpired() {
        assertThat(warning(Duration.ofSeconds(-1)))
                .isEqualTo("The certificate for the target, /etc/mirror.p12, expired at " + EXPIRY);
    }

    private String warning(Duration before) {
        return certificate.warning(EXPIRY.minus(before));
    }
}
