package dev.millrace.mirror.fetch;

import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.config.ConfigException;

/**
 * Where to read a partition that has no position, or one outside its log: {@code auto.offset.reset}, or a time.
 *
 * @param name as a user gives it
 * @param timestamp what to ask {@code ListOffsets} for; a special, negative one for the log's ends
 * @param age how far back to go for {@code by_duration}, instead of a timestamp
 */
public record ResetPolicy(String name, long timestamp, Optional<Duration> age) {
    static final long LATEST = -1;
    static final long EARLIEST = -2;
    private static final long NOWHERE = Long.MIN_VALUE;
    private static final String BY_DURATION = "by_duration:";

    public static ResetPolicy of(String value) {
        String name = value.toLowerCase(Locale.ROOT);
        if (name.startsWith(BY_DURATION)) {
            Duration age = Duration.parse(value.substring(BY_DURATION.length()));
            return new ResetPolicy(name, NOWHERE, Optional.of(age));
        }
        return switch (name) {
            case "earliest" -> new ResetPolicy(name, EARLIEST, Optional.empty());
            case "latest" -> new ResetPolicy(name, LATEST, Optional.empty());
            case "none" -> new ResetPolicy(name, NOWHERE, Optional.empty());
            default ->
                throw new ConfigException(
                        ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
                        value,
                        "must be earliest, latest, none or by_duration:…");
        };
    }

    /**
     * Returns the policy to begin with the first record that has this timestamp or a later one.
     *
     * @param timestamp in milliseconds since 1970
     */
    public static ResetPolicy since(String name, long timestamp) {
        return new ResetPolicy(name, timestamp, Optional.empty());
    }

    /** Whether positions may be moved at all. */
    public boolean isAllowed() {
        return age.isPresent() || timestamp != NOWHERE;
    }

    /** Whether positions are moved to the beginning of the log. */
    public boolean isEarliest() {
        return timestamp == EARLIEST;
    }

    /** Whether positions are moved to the end of the log. */
    public boolean isLatest() {
        return timestamp == LATEST;
    }

    /** Whether positions are moved to a time, and not to an end of the log. */
    public boolean isByTime() {
        return age.isPresent() || timestamp >= 0;
    }

    /** Returns the timestamp to ask for at the wall-clock time {@code wallMs}. */
    public long timestampAt(long wallMs) {
        return age.map(duration -> Math.max(0, wallMs - duration.toMillis())).orElse(timestamp);
    }
}
