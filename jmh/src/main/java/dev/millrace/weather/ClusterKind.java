package dev.millrace.weather;

import dev.millrace.testkit.cluster.Listener;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * One of the two clusters.
 *
 * @param isSecured whether the mirror connects by {@code SASL_SSL}
 * @param quotaMegabytesPerSecond of the mirror at each broker, to write and to read; 0 for none
 * @param isForgetful whether it looks every second, not every ten minutes, which producers to forget
 */
record ClusterKind(int brokers, boolean isSecured, int quotaMegabytesPerSecond, boolean isForgetful) {
    private static final int MAX_QUOTA = 20;

    static ClusterKind draw(Random random) {
        int brokers = random.nextBoolean() ? 1 : 3;
        boolean isSecured = random.nextInt(3) == 0;
        int quota = 1 + random.nextInt(MAX_QUOTA);
        boolean hasQuota = random.nextBoolean();
        boolean isForgetful = random.nextBoolean();
        // Only there the mirror is a user of its own, so that nobody else has to live with its quota.
        return new ClusterKind(brokers, isSecured, isSecured && hasQuota ? quota : 0, isForgetful);
    }

    /** Where the mirror connects. */
    Listener listener() {
        return isSecured ? Listener.PROXIED_SASL_SSL : Listener.PROXIED;
    }

    Map<String, String> settings() {
        Map<String, String> settings = new HashMap<>();
        // So that no topic loses what it has acknowledged when one broker is away.
        settings.put("default.replication.factor", Integer.toString(brokers));
        settings.put("min.insync.replicas", Integer.toString(Math.min(2, brokers)));
        // Else a broker that is killed within a minute has records again that were deleted.
        settings.put("log.flush.start.offset.checkpoint.interval.ms", "100");
        if (isForgetful) {
            settings.put("producer.id.expiration.check.interval.ms", "1000");
        }
        return settings;
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%d broker%s%s%s%s",
                brokers,
                brokers == 1 ? "" : "s",
                isSecured ? " by SASL_SSL" : "",
                quotaMegabytesPerSecond == 0 ? "" : " with a quota of " + quotaMegabytesPerSecond + " MB/s",
                isForgetful ? " that forget soon" : "");
    }
}
