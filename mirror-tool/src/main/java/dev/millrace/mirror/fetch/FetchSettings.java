package dev.millrace.mirror.fetch;

import dev.millrace.client.io.Backoff;
import java.time.Duration;
import java.util.Locale;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.IsolationLevel;

/**
 * The settings of a fetcher.
 *
 * @param request limits of a request
 * @param cold when a partition counts as cold
 * @param metadata how metadata is kept fresh
 * @param memoryBytes limit for bytes that are fetched and not released
 */
public record FetchSettings(
        Request request,
        Cold cold,
        Metadata metadata,
        ResetPolicy resetPolicy,
        Backoff retryBackoff,
        long memoryBytes) {
    /** 64 MB: as much as the target accepts in some hundred milliseconds. */
    private static final long DEFAULT_MEMORY_BYTES = 64L << 20;

    private static final String METADATA_RECOVERY_STRATEGY = "metadata.recovery.strategy";
    private static final String METADATA_REBOOTSTRAP_TRIGGER_MS = "metadata.recovery.rebootstrap.trigger.ms";
    private static final int COLD_AFTER_MS = 10_000;
    private static final int COLD_MAX_WAIT_MS = 5_000;
    private static final int COLD_MIN_PARTITIONS = 32;

    /**
     * The settings {@code fetch.min.bytes}, {@code fetch.max.bytes}, {@code fetch.max.wait.ms}, {@code
     * isolation.level}.
     */
    public record Request(int minBytes, int maxBytes, int maxWaitMs, IsolationLevel isolation) {
        /** A broker asked for 0 bytes answers with one batch, as if asked for one byte. */
        public Request {
            maxBytes = Math.max(1, maxBytes);
        }
    }

    /**
     * When a partition counts as cold. The broker's cost of a request grows with the partitions of the session, so
     * those that receive nothing share a separate session, which waits long.
     *
     * @param afterMs a partition is cold when nothing came for this long
     * @param minPartitions fewer partitions are not worth a session
     * @param maxWaitMs how long its requests wait; it is answered at once when something comes
     */
    public record Cold(int afterMs, int minPartitions, int maxWaitMs) {}

    /** Says how metadata is kept fresh; {@code rebootstrap}: ask the bootstrap servers when no broker answers. */
    public record Metadata(long maxAgeMs, boolean rebootstrap, long rebootstrapTriggerMs) {
        private static final long LEAST_AGE_MS = 1_000;
        private static final long GREATEST_AGE_MS = Duration.ofDays(365).toMillis();

        /** With an age of 0, a follower would be forgotten before it is asked; the largest age exceeds the clock. */
        public Metadata {
            maxAgeMs = Math.min(Math.max(LEAST_AGE_MS, maxAgeMs), GREATEST_AGE_MS);
        }
    }

    public static FetchSettings of(ConsumerConfig config) {
        int requestTimeoutMs = config.getInt(ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG);
        String recovery = config.getString(METADATA_RECOVERY_STRATEGY);
        return new FetchSettings(
                new Request(
                        config.getInt(ConsumerConfig.FETCH_MIN_BYTES_CONFIG),
                        config.getInt(ConsumerConfig.FETCH_MAX_BYTES_CONFIG),
                        config.getInt(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG),
                        isolation(config)),
                new Cold(COLD_AFTER_MS, COLD_MIN_PARTITIONS, Math.min(COLD_MAX_WAIT_MS, requestTimeoutMs / 2)),
                new Metadata(
                        config.getLong(ConsumerConfig.METADATA_MAX_AGE_CONFIG),
                        recovery.toLowerCase(Locale.ROOT).equals("rebootstrap"),
                        config.getLong(METADATA_REBOOTSTRAP_TRIGGER_MS)),
                ResetPolicy.of(config.getString(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG)),
                new Backoff(
                        config.getLong(ConsumerConfig.RETRY_BACKOFF_MS_CONFIG),
                        config.getLong(ConsumerConfig.RETRY_BACKOFF_MAX_MS_CONFIG)),
                DEFAULT_MEMORY_BYTES);
    }

    public static IsolationLevel isolation(ConsumerConfig config) {
        return IsolationLevel.valueOf(
                config.getString(ConsumerConfig.ISOLATION_LEVEL_CONFIG).toUpperCase(Locale.ROOT));
    }
}
