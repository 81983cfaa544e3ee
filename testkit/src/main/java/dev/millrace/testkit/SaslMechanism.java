package dev.millrace.testkit;

import java.util.Optional;

/** A way to authenticate on the SASL listeners of a {@link KafkaCluster}. */
public enum SaslMechanism {
    PLAIN("PLAIN"),
    SCRAM_SHA_256("SCRAM-SHA-256"),
    SCRAM_SHA_512("SCRAM-SHA-512");

    private final String kafkaName;

    SaslMechanism(String kafkaName) {
        this.kafkaName = kafkaName;
    }

    /** The value of {@code sasl.mechanism}. */
    public String kafkaName() {
        return kafkaName;
    }

    /** The value of a client's {@code sasl.jaas.config}; also good for a user or password that the brokers refuse. */
    public String clientJaas(String user, String password) {
        return loginModule() + " required username=\"" + user + "\" password=\"" + password + "\";";
    }

    String brokerJaas(String user, String password) {
        String knownUser = this == PLAIN ? " user_" + user + "=\"" + password + "\"" : "";
        return loginModule() + " required" + knownUser + ";";
    }

    /** The user's credential in the form the storage tool takes; PLAIN has none, it is in the broker's settings. */
    Optional<String> storedCredential(String user, String password) {
        return this == PLAIN
                ? Optional.empty()
                : Optional.of(kafkaName + "=[name=" + user + ",password=" + password + "]");
    }

    private String loginModule() {
        return this == PLAIN
                ? "org.apache.kafka.common.security.plain.PlainLoginModule"
                : "org.apache.kafka.common.security.scram.ScramLoginModule";
    }
}
