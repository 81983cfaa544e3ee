package dev.millrace.testkit.cluster;

import dev.millrace.testkit.cluster.ClusterSpec.Credentials;
import java.util.Optional;

/** A way to authenticate on the SASL listeners of a {@link KafkaCluster}. */
public enum SaslMechanism {
    PLAIN("PLAIN", "plain.PlainLoginModule"),
    SCRAM_SHA_256("SCRAM-SHA-256", "scram.ScramLoginModule"),
    SCRAM_SHA_512("SCRAM-SHA-512", "scram.ScramLoginModule"),
    /** With Kafka's unsecured tokens for development; the password is the scope that brokers require. */
    OAUTHBEARER("OAUTHBEARER", "oauthbearer.OAuthBearerLoginModule");

    private final String kafkaName;
    private final String loginModule;

    SaslMechanism(String kafkaName, String loginModule) {
        this.kafkaName = kafkaName;
        this.loginModule = "org.apache.kafka.common.security." + loginModule;
    }

    /** The value of {@code sasl.mechanism}. */
    public String kafkaName() {
        return kafkaName;
    }

    /** The value of a client's {@code sasl.jaas.config}; user and password may be ones that the brokers refuse. */
    public String clientJaas(String user, String password) {
        return this == OAUTHBEARER
                ? jaas(option("unsecuredLoginStringClaim_sub", user)
                        + option("unsecuredLoginStringClaim_scope", password))
                : jaas(option("username", user) + option("password", password));
    }

    /** The value of a broker's {@code sasl.jaas.config} for this mechanism. */
    String brokerJaas(Credentials credentials) {
        StringBuilder options = new StringBuilder();
        if (this == PLAIN) {
            credentials.users().forEach(user -> options.append(option("user_" + user, credentials.password())));
        } else if (this == OAUTHBEARER) {
            options.append(option(
                    "unsecuredLoginStringClaim_sub",
                    "broker")); // its login module needs it, though it connects to nobody
            options.append(option("unsecuredValidatorRequiredScope", credentials.password()));
        }
        return jaas(options.toString());
    }

    /**
     * The user's credential for the storage tool. Only SCRAM has one; the other mechanisms have theirs in the settings.
     */
    Optional<String> storedCredential(String user, String password) {
        boolean isScram = this == SCRAM_SHA_256 || this == SCRAM_SHA_512;
        return isScram ? Optional.of(kafkaName + "=[name=" + user + ",password=" + password + "]") : Optional.empty();
    }

    private String jaas(String options) {
        return loginModule + " required" + options + ";";
    }

    private static String option(String name, String value) {
        return " " + name + "=\"" + value + "\"";
    }
}
