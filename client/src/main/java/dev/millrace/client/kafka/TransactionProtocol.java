package dev.millrace.client.kafka;

import org.apache.kafka.clients.producer.ProducerConfig;

/**
 * The {@code transactional.id} of a producer, and the version of the transaction protocol that it uses (KIP-890).
 *
 * <p><b>Threads:</b> the first I/O thread chooses the version while no transaction is open; all I/O threads read it.
 */
final class TransactionProtocol {
    private final String transactionalId;
    private final int timeoutMs;
    private volatile boolean explicit;

    TransactionProtocol(ProducerConfig config) {
        this.transactionalId = config.getString(ProducerConfig.TRANSACTIONAL_ID_CONFIG);
        this.timeoutMs = config.getInt(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG);
    }

    /** Returns the id; null for a producer without transactions. */
    String transactionalId() {
        return transactionalId;
    }

    int timeoutMs() {
        return timeoutMs;
    }

    /** Whether partitions must be added before writes to them; if so, newer versions of requests must not be used. */
    boolean isExplicit() {
        return transactionalId != null && explicit;
    }

    void setExplicit(boolean isExplicit) {
        explicit = isExplicit;
    }
}
