package dev.millrace.testkit;

/** A kind of listener of a broker. */
public enum Listener {
    /** Neither encrypted nor authenticated. Every cluster has it, and talks through it between its own brokers. */
    PLAINTEXT("PLAINTEXT"),
    /** As {@link #PLAINTEXT}, through a {@link FaultProxy} in front of each broker. */
    PROXIED("PLAINTEXT"),
    /** TLS; the client checks the broker's certificate and host name, and has none of its own. */
    SSL("SSL"),
    /** Authenticated with PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512, not encrypted. */
    SASL_PLAINTEXT("SASL_PLAINTEXT"),
    /** TLS as with {@link #SSL}, authenticated as with {@link #SASL_PLAINTEXT}. */
    SASL_SSL("SASL_SSL");

    private final String securityProtocol;

    Listener(String securityProtocol) {
        this.securityProtocol = securityProtocol;
    }

    /** The value of {@code security.protocol}. */
    String securityProtocol() {
        return securityProtocol;
    }

    boolean isEncrypted() {
        return securityProtocol.endsWith("SSL");
    }

    boolean isAuthenticated() {
        return securityProtocol.startsWith("SASL");
    }
}
