package dev.millrace.client.kafka;

import org.apache.kafka.clients.producer.ProducerConfig;

/**
 * Under what name a producer writes in transactions, and by which version of the protocol (KIP-890).
 *
 * <p><b>Threads:</b> the first I/O thread chooses the version while no transaction is open; all of them read it.
 */
final class TransactionProtocol {
    private final String transactionalId;
    private final int timeoutMs;
    private volatile boolean explicit;

    TransactionProtocol(ProducerConfig config) {
        this.transactionalId = config.getString(ProducerConfig.TRANSACTIONAL_ID_CONFIG);
        this.timeoutMs = config.getInt(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG);
    }

    /** Null for a producer without transactions. */
    String transactionalId() {
        return transactionalId;
    }

    int timeoutMs() {
        return timeoutMs;
    }

    /** Whether partitions must be added before they are written to; then no newer version of a request may be used. */
    boolean isExplicit() {
        return transactionalId != null && explicit;
    }

    void choose(boolean explicitly) {
        explicit = explicitly;
    }
}
