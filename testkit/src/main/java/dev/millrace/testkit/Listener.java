package dev.millrace.testkit;

/** A kind of listener of a broker, by its security protocol. */
public enum Listener {
    /** Neither encrypted nor authenticated. Every cluster has it, and talks through it between its own brokers. */
    PLAINTEXT,
    /** TLS; the client checks the broker's certificate and host name, and has none of its own. */
    SSL,
    /** Authenticated with PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512, not encrypted. */
    SASL_PLAINTEXT,
    /** TLS as with {@link #SSL}, authenticated as with {@link #SASL_PLAINTEXT}. */
    SASL_SSL;

    boolean isEncrypted() {
        return this == SSL || this == SASL_SSL;
    }

    boolean isAuthenticated() {
        return this == SASL_PLAINTEXT || this == SASL_SSL;
    }
}
