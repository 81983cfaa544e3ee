package dev.millrace.testkit.cluster;

import java.util.Optional;

/** A way to authenticate on the SASL listeners of a {@link KafkaCluster}. */
public enum SaslMechanism {
    PLAIN("PLAIN", "plain.PlainLoginModule"),
    SCRAM_SHA_256("SCRAM-SHA-256", "scram.ScramLoginModule"),
    SCRAM_SHA_512("SCRAM-SHA-512", "scram.ScramLoginModule"),
    /** With the unsecured tokens that Kafka has for development; the password is the scope that brokers require. */
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

    /** The value of a client's {@code sasl.jaas.config}; also good for a user or password that the brokers refuse. */
    public String clientJaas(String user, String password) {
        return this == OAUTHBEARER
                ? jaas(option("unsecuredLoginStringClaim_sub", user)
                        + option("unsecuredLoginStringClaim_scope", password))
                : jaas(option("username", user) + option("password", password));
    }

    String brokerJaas(Iterable<String> users, String password) {
        StringBuilder options = new StringBuilder();
        if (this == PLAIN) {
            users.forEach(user -> options.append(option("user_" + user, password)));
        } else if (this == OAUTHBEARER) {
            options.append(option("unsecuredLoginStringClaim_sub", "broker")); // it logs in too, to nobody
            options.append(option("unsecuredValidatorRequiredScope", password));
        }
        return jaas(options.toString());
    }

    /** The user's credential in the form the storage tool takes; only SCRAM has one, else it is in the broker's settings. */
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
