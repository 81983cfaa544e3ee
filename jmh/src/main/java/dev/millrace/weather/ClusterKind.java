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
 * @param isAuthorized whether the mirror may do only what {@code docs/mirror.md} demands for it
 * @param isAutoCreating whether its brokers create a topic for whoever asks for it, as Kafka does by default
 * @param isForgetful whether it looks every second, not every ten minutes, which producers to forget
 */
record ClusterKind(
        int brokers,
        boolean isSecured,
        boolean isAuthorized,
        int quotaMegabytesPerSecond,
        boolean isAutoCreating,
        boolean isForgetful) {
    private static final int MAX_QUOTA = 20;

    static ClusterKind draw(Random random) {
        int brokers = random.nextBoolean() ? 1 : 3;
        boolean isSecured = random.nextInt(3) == 0;
        int quota = 1 + random.nextInt(MAX_QUOTA);
        boolean hasQuota = random.nextBoolean();
        boolean isForgetful = random.nextBoolean();
        boolean isAutoCreating = random.nextBoolean();
        boolean hasAcls = random.nextBoolean();
        // Only there the mirror is a user of its own, so that nobody else has to live with its quota and its ACLs.
        return new ClusterKind(
                brokers,
                isSecured,
                isSecured && hasAcls,
                isSecured && hasQuota ? quota : 0,
                isAutoCreating,
                isForgetful);
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
        settings.put("log.cleaner.backoff.ms", "500");
        settings.put("auto.create.topics.enable", Boolean.toString(isAutoCreating));
        if (isForgetful) {
            settings.put("producer.id.expiration.check.interval.ms", "1000");
        }
        return settings;
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%d broker%s%s%s%s%s%s",
                brokers,
                brokers == 1 ? "" : "s",
                isSecured ? " by SASL_SSL" : "",
                isAuthorized ? " with ACLs" : "",
                quotaMegabytesPerSecond == 0 ? "" : " with a quota of " + quotaMegabytesPerSecond + " MB/s",
                isAutoCreating ? " auto-creating" : "",
                isForgetful ? " that forget soon" : "");
    }
}
