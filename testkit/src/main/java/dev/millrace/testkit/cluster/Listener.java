package dev.millrace.testkit.cluster;

import java.util.Locale;

/** A kind of listener of a broker. */
public enum Listener {
    /**
     * Neither encrypted nor authenticated. Every cluster has it, and its brokers use it among themselves, unless the
     * cluster has {@link #REPLICATION}.
     */
    PLAINTEXT("PLAINTEXT"),
    /** As {@link #PLAINTEXT}, through a {@link dev.millrace.testkit.proxy.FaultProxy} in front of each broker. */
    PROXIED("PLAINTEXT"),
    /**
     * As {@link #PROXIED}, but for the brokers: in a cluster that has it they use it among themselves in place of
     * {@link #PLAINTEXT}.
     */
    REPLICATION("PLAINTEXT"),
    /** TLS; the client checks the broker's certificate and host name, and has no certificate itself. */
    SSL("SSL"),
    /** Authenticated by any {@link SaslMechanism}, not encrypted. */
    SASL_PLAINTEXT("SASL_PLAINTEXT"),
    /** TLS as with {@link #SSL}, authenticated as with {@link #SASL_PLAINTEXT}. */
    SASL_SSL("SASL_SSL"),
    /** As {@link #SASL_SSL}, through a proxy as {@link #PROXIED}. */
    PROXIED_SASL_SSL("SASL_SSL"),
    /** As {@link #SSL}, but the client needs a certificate too. */
    SSL_MUTUAL("SSL"),
    /** As {@link #SSL}, but the broker's certificate has expired: no client should connect. */
    SSL_EXPIRED("SSL"),
    /**
     * As {@link #SSL}, but the broker's certificate is for another host: only a client that does not check it connects.
     */
    SSL_OTHER_HOST("SSL");

    private final String securityProtocol;

    Listener(String securityProtocol) {
        this.securityProtocol = securityProtocol;
    }

    /** The prefix of the broker settings that are for this listener only. */
    String prefix() {
        return "listener.name." + name().toLowerCase(Locale.ROOT) + ".";
    }

    /** The value of {@code security.protocol}. */
    public String securityProtocol() {
        return securityProtocol;
    }

    /** Whether there is a proxy in front of each broker. */
    boolean isProxied() {
        return this == PROXIED || this == PROXIED_SASL_SSL || this == REPLICATION;
    }

    boolean isEncrypted() {
        return securityProtocol.endsWith("SSL");
    }

    boolean isAuthenticated() {
        return securityProtocol.startsWith("SASL");
    }
}
