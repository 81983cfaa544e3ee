package dev.millrace.testkit.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.RSAPublicKey;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;

/**
 * Tokens for {@link SaslMechanism#OAUTHBEARER}, signed as an identity provider does, in a file that clients read by Kafka's own
 * classes. A failure of a file is an {@link UncheckedIOException}.
 *
 * <p><b>Threads:</b> one.
 */
public final class SignedTokens {
    /** The system property of a JVM that names the files it may read: {@link #url()} for a client. */
    public static final String ALLOWED_URLS = "org.apache.kafka.sasl.oauthbearer.allowed.urls";

    /** The setting of brokers that says where the keys are. */
    static final String KEYS = "sasl.oauthbearer.jwks.endpoint.url";

    private static final String CLASSES = "org.apache.kafka.common.security.oauthbearer.OAuthBearer";

    private final Path folder;
    private final KeyPair keys;

    /** @param folder gets the file of the token, and others */
    public SignedTokens(Path folder) {
        this.folder = folder;
        try {
            keys = KeyPairGenerator.getInstance("RSA").generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Cannot make keys", e);
        }
    }

    /** With these settings a listener of a cluster takes the tokens. */
    public Map<String, String> brokerSettings(Listener listener) {
        return Map.of(
                KEYS,
                writePublicKey().toUri().toString(),
                "sasl.oauthbearer.clock.skew.seconds",
                "0",
                listener.prefix() + "oauthbearer.sasl.server.callback.handler.class",
                CLASSES + "ValidatorCallbackHandler");
    }

    /** With these settings a client logs in with the token in the file. */
    public Map<String, String> clientSettings() {
        return Map.of(
                "sasl.mechanism",
                SaslMechanism.OAUTHBEARER.kafkaName(),
                "sasl.jaas.config",
                CLASSES + "LoginModule required;",
                "sasl.login.callback.handler.class",
                CLASSES + "LoginCallbackHandler",
                "sasl.oauthbearer.token.endpoint.url",
                url());
    }

    /** Where clients read the token. */
    public String url() {
        return file().toUri().toString();
    }

    /** Puts a new token into the file, in one step, and returns when it expires. */
    public Instant replace(Duration validity) {
        Instant now = Instant.now();
        Instant expiry = now.plus(validity);
        String claims = "{\"sub\":\"millrace\",\"scope\":\"all\",\"iat\":" + now.getEpochSecond() + ",\"exp\":"
                + expiry.getEpochSecond() + "}";
        try {
            String signed = base64("{\"alg\":\"RS256\"}") + "." + base64(claims);
            Signature signature = Signature.getInstance("SHA256withRSA");
            signature.initSign(keys.getPrivate());
            signature.update(signed.getBytes(StandardCharsets.US_ASCII));
            Path made = Files.writeString(folder.resolve("made"), signed + "." + base64(signature.sign()));
            Files.move(made, file(), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Cannot sign a token", e);
        }
        return expiry;
    }

    private Path file() {
        return folder.resolve("token");
    }

    /** Writes the key in the form in which brokers read it. */
    private Path writePublicKey() {
        RSAPublicKey key = (RSAPublicKey) keys.getPublic();
        String number = base64(key.getModulus().toByteArray());
        String exponent = base64(key.getPublicExponent().toByteArray());
        try {
            return Files.writeString(
                    folder.resolve("keys.json"),
                    "{\"keys\":[{\"kty\":\"RSA\",\"alg\":\"RS256\",\"n\":\"" + number + "\",\"e\":\"" + exponent
                            + "\"}]}");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String base64(String text) {
        return base64(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String base64(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
