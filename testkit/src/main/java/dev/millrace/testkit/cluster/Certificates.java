package dev.millrace.testkit.cluster;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * The certificates of one cluster: a temporary authority, and the certificates that it has signed. All brokers share
 * them. The JDK's {@code keytool} makes them, because the JDK has no public API that signs certificates.
 */
public final class Certificates {
    private static final String PASSWORD = "store-secret";
    private static final String AUTHORITY = "authority";
    private static final String FOR_THIS_HOST = "-dname CN=localhost -ext san=dns:localhost,ip:127.0.0.1";
    private static final String VALID = " -validity 30";
    private static final String CLIENT = "-dname CN=client";
    private static final Duration DAY = Duration.ofDays(1);

    private final Path folder;

    private Certificates(Path folder) {
        this.folder = folder;
    }

    /** A kind of certificate, with keytool's options for it. */
    private enum Kind {
        BROKER(FOR_THIS_HOST + VALID),
        EXPIRED(FOR_THIS_HOST + " -startdate -3d -validity 1"),
        OTHER_HOST("-dname CN=elsewhere -ext san=dns:elsewhere.invalid" + VALID),
        CLIENT(Certificates.CLIENT + VALID);

        private final String options;

        Kind(String options) {
            this.options = options;
        }

        static Kind ofBroker(Listener listener) {
            return switch (listener) {
                case SSL_EXPIRED -> EXPIRED;
                case SSL_OTHER_HOST -> OTHER_HOST;
                default -> BROKER;
            };
        }
    }

    /** Makes, in the folder, the stores that brokers and clients of these listeners need; takes a second or two. */
    public static Certificates generate(Path folder, Set<Listener> listeners) {
        Certificates certificates = new Certificates(folder);
        Path work = certificates.work();
        keytool(work, AUTHORITY, "-dname CN=authority -ext bc:c=ca:true" + VALID);
        try {
            KeyStore trusted = empty();
            trusted.setCertificateEntry(AUTHORITY, load(work).getCertificate(AUTHORITY));
            save(trusted, certificates.trustStore());
            for (Kind kind : Kind.values()) {
                boolean isNeeded = kind == Kind.CLIENT
                        ? listeners.contains(Listener.SSL_MUTUAL)
                        : listeners.stream().anyMatch(l -> l.isEncrypted() && Kind.ofBroker(l) == kind);
                if (isNeeded) {
                    certificates.sign(kind.name(), kind.options, certificates.keyStore(kind));
                }
            }
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Cannot make certificates", e);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot make certificates", e);
        }
        return certificates;
    }

    /**
     * Makes a key store with a new client certificate that is valid for less than a day; the password is that of the
     * others. Returns when the certificate expires.
     */
    public Instant makeClientStore(Path file, Duration validity) {
        String start = " -startdate -" + DAY.minus(validity).toSeconds() + "S -validity " + DAY.toDays();
        try {
            return sign("client-" + System.nanoTime(), CLIENT + start, file);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Cannot make a certificate", e);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot make a certificate", e);
        }
    }

    /** Returns when the certificate expires. */
    private Instant sign(String alias, String options, Path file) throws GeneralSecurityException, IOException {
        keytool(work(), alias, "-signer " + AUTHORITY + " " + options);
        KeyStore all = load(work());
        KeyStore own = empty();
        own.setKeyEntry(
                alias,
                all.getKey(alias, PASSWORD.toCharArray()),
                PASSWORD.toCharArray(),
                all.getCertificateChain(alias));
        save(own, file);
        return ((X509Certificate) own.getCertificate(alias)).getNotAfter().toInstant();
    }

    Map<String, String> brokerSettings(Set<Listener> listeners) {
        Map<String, String> settings = new HashMap<>();
        for (Listener listener : listeners) {
            if (listener.isEncrypted()) {
                putStore(settings, listener.prefix() + "ssl.keystore", keyStore(Kind.ofBroker(listener)));
                settings.put(listener.prefix() + "ssl.key.password", PASSWORD);
            }
        }
        if (listeners.contains(Listener.SSL_MUTUAL)) {
            putStore(settings, Listener.SSL_MUTUAL.prefix() + "ssl.truststore", trustStore());
            settings.put(Listener.SSL_MUTUAL.prefix() + "ssl.client.auth", "required");
        }
        return settings;
    }

    public Map<String, String> clientSettings(Listener listener) {
        Map<String, String> settings = new HashMap<>();
        putStore(settings, "ssl.truststore", trustStore());
        if (listener == Listener.SSL_MUTUAL) {
            putStore(settings, "ssl.keystore", keyStore(Kind.CLIENT));
            settings.put("ssl.key.password", PASSWORD);
        }
        return settings;
    }

    /** The key store of a broker, for {@link #serverContext}. */
    public Path brokerStore() {
        return keyStore(Kind.BROKER);
    }

    /** The TLS context of a server that is no Kafka broker and presents the certificate of a broker. */
    public static SSLContext serverContext(Path brokerStore) {
        try {
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(load(brokerStore), PASSWORD.toCharArray());
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys.getKeyManagers(), null, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Cannot use the certificates", e);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read the certificates", e);
        }
    }

    private static void putStore(Map<String, String> settings, String prefix, Path store) {
        settings.put(prefix + ".type", "PKCS12");
        settings.put(prefix + ".location", store.toString());
        settings.put(prefix + ".password", PASSWORD);
    }

    private Path work() {
        return folder.resolve("authority.p12");
    }

    private Path trustStore() {
        return folder.resolve("trust.p12");
    }

    private Path keyStore(Kind kind) {
        return folder.resolve(kind.name().toLowerCase(Locale.ROOT) + ".p12");
    }

    private static void keytool(Path store, String alias, String options) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of("-genkeypair", "-keyalg", "EC", "-groupname", "secp256r1", "-alias", alias));
        command.addAll(List.of("-keystore", store.toString(), "-storetype", "PKCS12", "-storepass", PASSWORD));
        command.addAll(List.of(options.split(" ")));
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), Charset.defaultCharset());
            if (process.waitFor() != 0) {
                throw new IllegalStateException("keytool failed: " + output);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot run keytool", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for keytool", e);
        }
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private static KeyStore load(Path file) throws GeneralSecurityException, IOException {
        return KeyStore.getInstance(file.toFile(), PASSWORD.toCharArray());
    }

    private static void save(KeyStore store, Path file) throws GeneralSecurityException, IOException {
        try (OutputStream out = Files.newOutputStream(file)) {
            store.store(out, PASSWORD.toCharArray());
        }
    }
}
