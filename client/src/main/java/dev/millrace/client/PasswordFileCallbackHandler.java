package dev.millrace.client;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.NameCallback;
import javax.security.auth.callback.PasswordCallback;
import javax.security.auth.callback.UnsupportedCallbackException;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.SaslConfigs;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;

/**
 * Takes the password of SASL PLAIN or SCRAM from a file at each new connection, so that it can be changed while a client
 * runs: name this class as {@code sasl.client.callback.handler.class}, and the file in {@code sasl.jaas.config}:
 *
 * <pre>
 * org.apache.kafka.common.security.scram.ScramLoginModule required username="mirror" passwordFile="/run/secrets/kafka";
 * </pre>
 *
 * <p>Kafka's clients take the password from their configuration once, also if a config provider reads it from a file.
 * White space at the end of the file does not count. Replace the file in one step, by a rename: a connection reads
 * what is there at the time. Connections that are open stay as they are.
 *
 * <p>It needs nothing of Millrace's producer, so it serves Kafka's consumers and admin clients, too.
 *
 * <p><b>Threads:</b> any, after {@code configure}. <b>Blocking:</b> opening a connection reads the file.
 */
public final class PasswordFileCallbackHandler implements AuthenticateCallbackHandler {
    private static final String USERNAME = "username";
    private static final String FILE = "passwordFile";

    private String username = "";
    private Path file = Path.of("");

    /**
     * Does not read the file yet.
     *
     * @throws ConfigException the JAAS configuration lacks one of the two options
     */
    @Override
    public void configure(Map<String, ?> configs, String mechanism, List<AppConfigurationEntry> jaas) {
        username = option(jaas, USERNAME);
        file = Path.of(option(jaas, FILE));
    }

    private static String option(List<AppConfigurationEntry> jaas, String name) {
        return jaas.stream()
                .flatMap(entry -> Stream.ofNullable(entry.getOptions().get(name)))
                .findFirst()
                .orElseThrow(() -> new ConfigException(SaslConfigs.SASL_JAAS_CONFIG + " lacks " + name
                        + "=\"…\", which " + PasswordFileCallbackHandler.class.getName() + " needs"))
                .toString();
    }

    /**
     * Tells the name, and the password that the file has now.
     *
     * @throws IOException the file cannot be read
     * @throws UnsupportedCallbackException the mechanism asks for something else; SCRAM goes on without
     */
    @Override
    public void handle(Callback[] callbacks) throws IOException, UnsupportedCallbackException {
        for (Callback callback : callbacks) {
            if (callback instanceof NameCallback asked) {
                asked.setName(username);
            } else if (callback instanceof PasswordCallback asked) {
                asked.setPassword(Files.readString(file).stripTrailing().toCharArray());
            } else {
                throw new UnsupportedCallbackException(callback);
            }
        }
    }

    @Override
    public void close() {
        // Nothing is open.
    }
}
