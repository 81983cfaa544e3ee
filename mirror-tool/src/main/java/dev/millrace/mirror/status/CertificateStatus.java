package dev.millrace.mirror.status;

import dev.millrace.mirror.config.ClusterRole;
import dev.millrace.mirror.text.Words;
import java.time.Duration;
import java.time.Instant;

/**
 * A certificate that the mirror shows to a cluster.
 *
 * @param place where it comes from: a file, or a setting
 * @param expiry from when on brokers refuse it
 */
public record CertificateStatus(ClusterRole cluster, String place, Instant expiry) {
    private static final Duration SOON = Duration.ofDays(7);

    /** Says that it expires within seven days; empty if it is valid for longer. */
    public String warning(Instant now) {
        Duration left = Duration.between(now, expiry);
        if (left.compareTo(SOON) > 0) {
            return "";
        }
        String when =
                left.isNegative() ? "expired at " : "expires in " + Words.duration(left.toMillis() / 1e3) + ", at ";
        return "The certificate for the " + cluster + ", " + place + ", " + when + expiry;
    }
}
