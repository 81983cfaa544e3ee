package dev.millrace.client.io;

/**
 * The settings of the I/O threads; all times in milliseconds.
 *
 * @param lingerMs how long an open batch waits for more records
 * @param deliveryTimeoutMs how long after its opening a batch fails
 * @param retries how often a batch is sent again
 * @param retryBackoff delay before a batch is sent again
 * @param maxRequestSize the most bytes of a produce request
 * @param maxInFlight the most requests in flight to one broker, and batches of one partition
 * @param idempotent whether batches carry producer id and sequence
 * @param metadataMaxAgeMs age at which metadata is requested again even if nothing changed
 * @param metadataMaxIdleMs how long after its last use a topic is forgotten
 * @param rebootstrap whether to go back to the bootstrap servers when no known broker can be reached (KIP-899)
 * @param rebootstrapTriggerMs how long until brokers that do not answer also count as unreachable (KIP-1102)
 * @param mayCreateTopics whether brokers may create a topic because it is asked for
 */
public record SenderSettings(
        long lingerMs,
        long deliveryTimeoutMs,
        int retries,
        Backoff retryBackoff,
        int maxRequestSize,
        int maxInFlight,
        boolean idempotent,
        long metadataMaxAgeMs,
        long metadataMaxIdleMs,
        boolean rebootstrap,
        long rebootstrapTriggerMs,
        boolean mayCreateTopics) {

    /** Returns the shortest linger: linger.ms is counted from half a millisecond before the batch is opened. */
    long shortestLingerMs() {
        return lingersFromEarlier() ? lingerMs - 1 : lingerMs;
    }

    /**
     * Whether {@code linger.ms} is counted from half a millisecond before a batch is opened. A selector waits whole
     * milliseconds, so its waits end up to one late; counted from the opening, half of all batches would be sent late.
     * A linger of a single millisecond is excluded because nothing of it might be left.
     */
    public boolean lingersFromEarlier() {
        return lingerMs > 1;
    }
}
